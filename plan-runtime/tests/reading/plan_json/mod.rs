//! All errors in plan JSON are reported together, each with its position.

mod blocks;
mod right;

use crate::support::plans;
use plan_runtime::dynamic::{Dialect, Reader};

fn reader() -> Reader<'static> {
    Reader::new().dialect(Dialect::PlanJson)
}

fn said(reader: Reader, document: &str) -> String {
    match reader.read(document) {
        Ok(document) => panic!("it is read: {}", document.plan()),
        Err(findings) => findings.to_string(),
    }
}
