//! References through flattened fields that may be absent, compared with the same paths in Rust.

use crate::support::{Same, done};
use plan_runtime::{Shape, plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Size {
    wide: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    high: Option<u8>,
    unit: Option<String>,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Origin {
    place: Place,
    #[serde(flatten)]
    date: Option<Date>,
    #[serde(flatten)]
    maker: Maker,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Maker {
    made_by: String,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Place {
    town: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Date {
    year: u16,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Sender {
    from: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    copies: Vec<String>,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Wrapped(Option<Weight>);

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Weight {
    grams: u32,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Parcel {
    id: u8,
    #[serde(flatten)]
    size: Option<Size>,
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    #[serde(flatten)]
    wrapped: Wrapped,
    #[serde(flatten)]
    sender: Sender,
    bag: Bag,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inner: Option<Box<Parcel>>,
}

/// serde gives a flattened map all that is left, also what belongs to others.
#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Bag {
    #[serde(flatten)]
    more: Option<BTreeMap<String, Value>>,
}

impl Parcel {
    fn bare(id: u8) -> Self {
        let (from, copies) = (format!("sender {id}"), Vec::new());
        Self {
            id,
            size: None,
            origin: None,
            wrapped: Wrapped(None),
            sender: Sender { from, copies },
            bag: Bag { more: None },
            inner: None,
        }
    }
}

plan! {
    Paths(parcel: Parcel, parcels: Vec<Parcel>) -> Value {
        step got = Same::<Parcel> { value: parcel };
        step wide = Same::<Option<u8>> { value: got.size?.wide };
        step of_input = Same::<Option<u8>> { value: parcel.size?.wide };
        step from = Same::<Option<String>> { value: got.sender.from };
        step weights = Same::<Vec<Option<u32>>> { value: parcels[..].wrapped.0?.grams };
        json!({
            "wide": wide, "of_input": of_input, "high": got.size?.high?, "high_itself": got.size?.high, "unit": got.size?.unit?,
            "place": got.origin?.place, "town": got.origin?.place.town, "names": got.origin?.place.names,
            "year": got.origin?.date?.year, "maker": got.origin?.maker.made_by, "from": from, "copies": got.sender.copies, "weights": weights,
            "grams": got.wrapped.0?.grams, "more": got.bag.more?.get("more")?, "any": got.bag.more?["more"],
            "inner": got.inner?.size?.wide, "inner_year": got.inner?.origin?.date?.year,
            "wides": parcels[..].size?.wide, "inner_wides": parcels[..].inner?.size?.wide,
        })
    }
}

/// Returns the expected result, in plain Rust.
fn expected(got: &Parcel, parcels: &[Parcel]) -> Value {
    let wide = |parcel: &Parcel| parcel.size.as_ref().map(|size| size.wide);
    let grams = |parcel: &Parcel| parcel.wrapped.0.as_ref().map(|weight| weight.grams);
    let origin = got.origin.as_ref();
    let year = |origin: &Origin| origin.date.as_ref().map(|date| date.year);
    let inner = got.inner.as_ref();
    json!({
        "wide": wide(got), "of_input": wide(got), "high": got.size.as_ref().and_then(|size| size.high),
        "high_itself": got.size.as_ref().map(|size| size.high), "unit": got.size.as_ref().and_then(|size| size.unit.clone()),
        "place": origin.map(|origin| origin.place.clone()), "town": origin.map(|origin| &origin.place.town),
        "names": origin.map(|origin| &origin.place.names), "year": origin.and_then(year), "maker": origin.map(|origin| &origin.maker.made_by), "from": got.sender.from,
        "copies": got.sender.copies, "weights": parcels.iter().map(grams).collect::<Vec<_>>(), "grams": grams(got),
        "more": got.bag.more.as_ref().and_then(|more| more.get("more")), "any": got.bag.more.as_ref().and_then(|more| more.get("more")),
        "inner": inner.and_then(|inner| wide(inner)), "inner_year": inner.and_then(|inner| inner.origin.as_ref()).and_then(year),
        "wides": parcels.iter().map(wide).collect::<Vec<_>>(),
        "inner_wides": parcels.iter().map(|parcel| parcel.inner.as_deref().and_then(wide)).collect::<Vec<_>>(),
    })
}

#[test]
fn paths_through_flattened_fields_mean_what_they_mean_in_rust() {
    let size = |high, unit: Option<&str>| Size {
        wide: 3,
        high,
        unit: unit.map(str::to_owned),
    };
    let origin = |names: &[&str], date| Origin {
        place: Place {
            town: "Ulm".to_owned(),
            names: names.iter().copied().map(str::to_owned).collect(),
        },
        date,
        maker: Maker {
            made_by: "Jo".to_owned(),
        },
    };
    let mut parcels = vec![Parcel::bare(1)];
    for size in [size(None, None), size(Some(4), Some("mm"))] {
        let mut parcel = Parcel::bare(2);
        parcel.size = Some(size);
        parcels.push(parcel);
    }
    for origin in [
        origin(&[], None),
        origin(&["Old"], Some(Date { year: 1900 })),
    ] {
        let mut parcel = Parcel::bare(3);
        parcel.origin = Some(origin);
        parcels.push(parcel);
    }
    let mut parcel = Parcel::bare(4);
    parcel.wrapped = Wrapped(Some(Weight { grams: 5 }));
    parcel.sender.copies = vec!["all".to_owned()];
    parcel.bag.more = Some(BTreeMap::from([("more".to_owned(), json!([1]))]));
    parcels.push(parcel);
    for inner in parcels.clone() {
        let mut parcel = Parcel::bare(5);
        parcel.inner = Some(Box::new(inner));
        parcels.push(parcel);
    }
    for parcel in &parcels {
        let plan = Paths {
            parcel: parcel.clone(),
            parcels: parcels.clone(),
        };
        assert_eq!(
            done(plan.run(&())),
            expected(parcel, &parcels),
            "{parcel:?}"
        );
    }
}
