//! Black-and-white pictures as PNG files, one bit per pixel and uncompressed: a display of a few thousand pixels needs
//! no more, and a crate for it would bring five others. Deliberately absent: colours, compression, reading.

/// The first bytes of every PNG file.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// The most bytes in one uncompressed block of a zlib stream.
const BLOCK: usize = 0xFFFF;

/// Encodes a picture whose pixels are white where `pixel` says so.
pub(crate) fn black_and_white(width: u32, height: u32, pixel: impl Fn(u32, u32) -> bool) -> Vec<u8> {
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // One bit per pixel, greyscale; the only methods defined for compression and filters; not interlaced.
    header.extend([1, 0, 0, 0, 0]);
    let mut rows = Vec::new();
    for y in 0..height {
        // Every row begins with its filter type: none.
        rows.push(0);
        rows.extend(
            (0..width).step_by(8).map(|x| (x..x + 8).fold(0, |byte, x| byte << 1 | u8::from(x < width && pixel(x, y)))),
        );
    }
    let chunks = [chunk(b"IHDR", &header), chunk(b"IDAT", &stored(&rows)), chunk(b"IEND", &[])];
    [SIGNATURE.as_slice(), &chunks.concat()].concat()
}

/// Builds a chunk: its length, its name, its data, and a checksum of the last two.
fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u32).to_be_bytes();
    let checked = [name.as_slice(), data].concat();
    let checksum = crc32(&checked).to_be_bytes();
    [length.as_slice(), &checked, &checksum].concat()
}

/// Builds a zlib stream that holds the data uncompressed.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let last = data.len().div_ceil(BLOCK).saturating_sub(1);
    for (at, block) in data.chunks(BLOCK).enumerate() {
        let length = block.len() as u16;
        stream.push(u8::from(at == last));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(data).to_be_bytes());
    stream
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}

fn adler32(data: &[u8]) -> u32 {
    let (low, high) = data.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values from the specifications of the two checksums.
    #[test]
    fn the_sums_are_those_of_the_specifications() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn a_picture_is_a_signature_and_three_chunks() {
        let picture = black_and_white(3, 2, |x, y| x == y);
        assert_eq!(&picture[..8], &SIGNATURE);
        assert_eq!(&picture[12..16], b"IHDR");
        // The three pixels of a row are the high bits of one byte, after the filter byte.
        let data = picture.windows(4).position(|at| at == b"IDAT").expect("there are pixels");
        assert_eq!(&picture[data + 4..data + 15], [0x78, 1, 1, 4, 0, 0xFB, 0xFF, 0, 0x80, 0, 0x40]);
        assert!(picture.ends_with(&[0xAE, 0x42, 0x60, 0x82]), "the checksum of an empty IEND");
    }

    #[test]
    fn a_large_picture_has_several_blocks() {
        let stream = stored(&vec![7; BLOCK + 5]);
        assert_eq!(&stream[2..5], &[0, 0xFF, 0xFF]);
        assert_eq!(&stream[2 + 5 + BLOCK..][..3], &[1, 5, 0]);
    }
}
