//! Running a plan.
/// todo
pub struct Report;
/// todo
pub struct Run;
/// todo
#[derive(Debug)]
pub struct RunError;
