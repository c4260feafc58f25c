//! The pages of a memory as a snapshot keeps them: shared with every other snapshot in which they are the same.
//!
//! They are the leaves of a tree. Changing a page copies the few nodes above it and shares the rest, so a copy of the
//! whole costs nothing, and two trees that have much in common are compared quickly.

use std::collections::HashSet;
use std::sync::Arc;

/// The number of children of a node, as a power of two.
const FANOUT_BITS: u32 = 5;
const FANOUT: usize = 1 << FANOUT_BITS;

/// Pages by number. Missing pages are full of zeros.
#[derive(Clone, Debug)]
pub(crate) struct SharedPages<T> {
    root: Node<T>,
    /// How many levels of nodes are above a page.
    levels: u32,
    count: u64,
}

#[derive(Debug)]
enum Node<T> {
    Empty,
    Page(Arc<[T]>),
    Inner(Arc<[Node<T>; FANOUT]>),
}

impl<T> Clone for Node<T> {
    fn clone(&self) -> Self {
        match self {
            Node::Empty => Node::Empty,
            Node::Page(page) => Node::Page(page.clone()),
            Node::Inner(children) => Node::Inner(children.clone()),
        }
    }
}

impl<T> Node<T> {
    fn child(&self, at: usize) -> &Node<T> {
        match self {
            Node::Inner(children) => &children[at],
            Node::Empty | Node::Page(_) => &Node::Empty,
        }
    }

    /// Whether the two are known to be the same without looking at the pages.
    fn is_shared_with(&self, other: &Node<T>) -> bool {
        match (self, other) {
            (Node::Empty, Node::Empty) => true,
            (Node::Page(one), Node::Page(other)) => Arc::ptr_eq(one, other),
            (Node::Inner(one), Node::Inner(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Calls `see` with the numbers of the pages that are not shared with another tree, in order.
    fn differences(&self, other: &Node<T>, level: u32, first: u64, see: &mut impl FnMut(u64)) {
        if self.is_shared_with(other) {
            return;
        }
        let Some(below) = level.checked_sub(1) else { return see(first) };
        for at in 0..FANOUT {
            let first = first + ((at as u64) << (FANOUT_BITS * below));
            self.child(at).differences(other.child(at), below, first, see);
        }
    }

    fn new_pages(&self, seen: &mut HashSet<usize>) -> u64 {
        match self {
            Node::Empty => 0,
            Node::Page(page) => u64::from(seen.insert(page.as_ptr() as usize)),
            Node::Inner(children) if seen.insert(Arc::as_ptr(children) as usize) => {
                children.iter().map(|child| child.new_pages(seen)).sum()
            }
            Node::Inner(_) => 0,
        }
    }
}

impl<T> SharedPages<T> {
    /// Makes a tree for this many pages, none of which exists.
    pub(crate) fn new(pages: u64) -> Self {
        let bits = pages.next_power_of_two().trailing_zeros();
        SharedPages { root: Node::Empty, levels: bits.div_ceil(FANOUT_BITS), count: 0 }
    }

    /// Returns how many pages exist.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns a page, if it exists.
    pub(crate) fn get(&self, number: u64) -> Option<&[T]> {
        let path = (0..self.levels).rev().map(|level| place(number, level));
        match path.fold(&self.root, Node::child) {
            Node::Page(page) => Some(page),
            Node::Empty | Node::Inner(_) => None,
        }
    }

    /// Puts a page in its place.
    pub(crate) fn set(&mut self, number: u64, page: Arc<[T]>) {
        let mut node = &mut self.root;
        for level in (0..self.levels).rev() {
            if !matches!(node, Node::Inner(_)) {
                *node = Node::Inner(Arc::new(std::array::from_fn(|_| Node::Empty)));
            }
            let Node::Inner(children) = node else { return };
            node = &mut Arc::make_mut(children)[place(number, level)];
        }
        self.count += u64::from(matches!(node, Node::Empty));
        *node = Node::Page(page);
    }

    /// Returns the numbers of the existing pages, in order.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let mut numbers = Vec::new();
        self.root.differences(&Node::Empty, self.levels, 0, &mut |number| numbers.push(number));
        numbers
    }

    /// Returns the numbers of the pages that are not shared with another tree for as many pages, in order.
    pub(crate) fn differences(&self, other: &Self) -> Vec<u64> {
        let mut numbers = Vec::new();
        self.root.differences(&other.root, self.levels, 0, &mut |number| numbers.push(number));
        numbers
    }

    /// Returns how many pages are not among those seen. They count as seen from now on.
    pub(crate) fn new_pages(&self, seen: &mut HashSet<usize>) -> u64 {
        self.root.new_pages(seen)
    }
}

/// Compares the contents.
impl<T: Default + PartialEq> PartialEq for SharedPages<T> {
    fn eq(&self, other: &Self) -> bool {
        let is_zero = |page: &[T]| page.iter().all(|cell| *cell == T::default());
        self.levels == other.levels
            && self.differences(other).into_iter().all(|number| match (self.get(number), other.get(number)) {
                (Some(one), Some(other)) => one == other,
                (Some(page), None) | (None, Some(page)) => is_zero(page),
                (None, None) => true,
            })
    }
}

/// Returns which child of a node leads to a page.
fn place(number: u64, level: u32) -> usize {
    (number >> (FANOUT_BITS * level)) as usize % FANOUT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(value: u8) -> Arc<[u8]> {
        Arc::from([value; 4])
    }

    #[test]
    fn pages_are_found_again_and_shared() {
        for pages in [1, 2, 32, 33, 1 << 20] {
            let mut shared = SharedPages::new(pages);
            shared.set(0, page(1));
            shared.set(pages - 1, page(2));
            let before = shared.clone();
            shared.set(pages / 2, page(3));
            assert_eq!(shared.get(pages / 2), Some([3; 4].as_slice()), "{pages}");
            assert_eq!(before.get(pages - 1), Some([2; 4].as_slice()), "{pages}");
            assert_eq!(shared.differences(&before), [pages / 2], "{pages}");
            assert_eq!(before.numbers().len() as u64, before.count());
            let mut seen = HashSet::new();
            assert_eq!(before.new_pages(&mut seen), before.count());
            assert_eq!(shared.new_pages(&mut seen), 1, "{pages}");
        }
    }

    #[test]
    fn a_page_of_zeros_is_as_good_as_none() {
        let (mut one, other) = (SharedPages::new(100), SharedPages::new(100));
        one.set(77, page(0));
        assert_eq!(one, other);
        one.set(77, page(1));
        assert_ne!(one, other);
    }
}
