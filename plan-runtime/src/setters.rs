//! Setters of structs that may get more fields.

/// Generates a method for each of these fields, which sets the field and returns the struct. `=> Some` wraps the method's argument
/// in an `Option`.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $type:ty $(=> $wrap:ident)?;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $field(mut self, $field: $type) -> Self {
            self.$field = $($wrap)?($field);
            self
        }
    )*};
}
