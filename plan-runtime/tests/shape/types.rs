//! Types with a shape: types without serde, generic ones, and those of the standard library.

use crate::shape::{agrees_with_serde, field, fields, literal, tuple};
use plan_runtime::Shape;
use plan_runtime::shape::FieldPlace;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::Debug;

#[test]
fn without_serde() {
    #[derive(Shape)]
    #[allow(dead_code)]
    struct Type<'a, T: ?Sized, const N: usize> {
        #[serde(rename = "n")]
        name: &'a str,
        numbers: [u8; N],
        inner: Box<T>,
    }
    assert_eq!(
        field::<Type<'static, str, 3>>("name").output,
        FieldPlace::Key("n")
    );
}

#[test]
fn generics_need_no_shape() {
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct Type<T, U = u8>
    where
        T: Clone,
    {
        first: T,
        second: Option<U>,
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
    struct NoShape(u8);
    agrees_with_serde(
        &Type {
            first: NoShape(1),
            second: Some(NoShape(2)),
        },
        json!({}),
    );
}

#[test]
fn the_standard_library() {
    use std::borrow::Cow;
    use std::ops::{Bound, Range, RangeFrom, RangeTo};
    use std::rc::Rc;
    use std::sync::Arc;

    agrees(&(1..2_u8));
    agrees(&(1_u8..));
    agrees(&(..2_u8));
    assert_eq!(tuple::<(u8, u8, u8)>().0, [(0, "0"), (1, "1"), (2, "2")]);
    assert_eq!(fields::<Box<Range<u8>>>().len(), 2);
    assert_eq!(fields::<Arc<RangeFrom<u8>>>().len(), 1);
    assert_eq!(fields::<Rc<RangeTo<u8>>>().len(), 1);
    assert_eq!(fields::<Cow<'static, Range<u8>>>().len(), 2);
    assert_eq!(
        field::<std::num::Wrapping<u8>>("0").output,
        FieldPlace::Inner
    );
    assert_eq!(
        field::<std::cmp::Reverse<u8>>("0").output,
        FieldPlace::Inner
    );
    assert_eq!(
        serde_json::from_value::<Bound<u8>>(literal::<Bound<u8>>("Included", &[json!(1)])).unwrap(),
        Bound::Included(1)
    );
    assert_eq!(
        serde_json::from_value::<Result<u8, u8>>(literal::<Result<u8, u8>>("Err", &[json!(1)]))
            .unwrap(),
        Err(1)
    );

    fn agrees<T: Shape + Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
        agrees_with_serde(value, json!({}));
    }
}
