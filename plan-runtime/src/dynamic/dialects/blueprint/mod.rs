pub(in crate::dynamic) mod read;
pub(in crate::dynamic) mod scan;
pub(in crate::dynamic) mod write;
