//! Writes the plans of 300 steps as source.

#[path = "../../plan-runtime/benches/cases/shapes.rs"]
#[allow(dead_code)]
mod shapes;

use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../plan-runtime/benches/cases/shapes.rs");
    let source: String = [
        ("Chain", "chain"),
        ("Fan", "fan"),
        ("Grid", "grid"),
        ("Dag", "dag"),
    ]
    .map(|(name, shape)| shapes::source(name, &shapes::shape(shape, 300)))
    .concat();
    let path = Path::new(&env::var_os("OUT_DIR").unwrap()).join("plans.rs");
    fs::write(path, source).unwrap();
}
