//! Invisible characters.
#![allow(dead_code, unreachable_pub)]

use regex_syntax::hir::{Class, ClassUnicode, HirKind};
use std::sync::LazyLock;

/// Invisible characters, by the tables of Unicode.
pub static UNSEEN: LazyLock<ClassUnicode> = LazyLock::new(|| {
    let class = r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}\u{2800}]";
    let hir = regex_syntax::parse(class).unwrap();
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => class.clone(),
        other => panic!("{other:?}"),
    }
});

pub fn is_unseen(c: char) -> bool {
    let ranges = UNSEEN.ranges();
    let place = ranges.partition_point(|range| range.end() < c);
    ranges.get(place).is_some_and(|range| range.start() <= c)
}
