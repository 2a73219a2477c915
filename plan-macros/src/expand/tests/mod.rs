//! Tests of expansions: plans with errors, with unusual names and with captured tokens, and plans from `plan-rust`.

mod any_name;
mod fragments;
mod named;
mod recovery;
mod written;
