//! A demo service for plans: a page on which people check, fill in, approve, run and watch plans, a JSON API, GraphQL, and metrics.

mod again;
mod answer;
mod budget;
mod connections;
mod decisions;
mod desk;
mod draft;
mod error;
mod findings;
mod folder;
mod graphql;
mod host;
pub mod limits;
mod list;
mod live;
mod markdown;
mod metrics;
mod observer;
mod page;
mod picture;
mod plans;
mod questions;
mod report;
mod routes;
mod run_id;
mod run_json;
mod runs;
mod samples;
mod server;
mod state;
mod title;
mod tools;
mod undoing;
mod view;
mod watch;

pub use server::{Server, ServerError, Settings};
