//! Documents that would use up the memory or the stack.
