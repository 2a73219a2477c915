//! What is printed is what happens.
