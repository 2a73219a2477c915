//! Values that a check must not let pass.
