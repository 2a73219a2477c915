//! What has become of a step.

/// Places have 32 bits, as in the graph of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepState {
    Waiting,
    Running,
    Completed,
    /// With its place among the failures.
    Failed(u32),
    /// By the step at this place, which failed.
    Blocked(u32),
    Cancelled,
}
