//! Writes the hardware of a machine that ships: `cargo run -p lathe-hdl --example write hex8 DIR`.
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let machine = lathe_machines::find(&arguments[1]).unwrap();
    let isa = lathe_isa::load(machine.definition).isa.unwrap();
    match lathe_hdl::generate(&isa, machine.definition, &Default::default()) {
        Ok(files) => {
            for file in files.files {
                std::fs::write(format!("{}/{}", arguments[2], file.name), file.text).unwrap();
            }
        }
        Err(found) => println!("{found} {:?}", found.place),
    }
}
