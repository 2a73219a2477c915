//! Facilities and shipments, with the outputs that blueprints expect of them.

use super::Office;
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Result, Shape, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Shape, JsonSchema)]
pub(super) struct Facility {
    id: String,
    name: String,
    location: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape, JsonSchema)]
pub(super) struct Shipment {
    id: String,
    facility_id: String,
    status: String,
    weight: f64,
}

const FACILITIES: [(&str, &str, &str); 4] = [
    ("F1", "Neckar Terminal", "Stuttgart"),
    ("F2", "Killesberg Depot", "Stuttgart"),
    ("F3", "Elbe Yard", "Hamburg"),
    ("F4", "Isar Hub", "München"),
];

const STATUSES: [&str; 3] = ["in transit", "delivered", "delayed"];

fn shipments(facility: &str) -> Vec<Shipment> {
    let shipment = |number: usize| Shipment {
        id: format!("{facility}-{number}"),
        facility_id: facility.to_owned(),
        status: STATUSES[(number - 1) % 3].to_owned(),
        weight: 12.5 * number as f64,
    };
    (1..=3).map(shipment).collect()
}

/// Lists facilities.
#[tool(name = "facilities_list", read_only)]
#[derive(JsonSchema)]
pub(super) async fn facilities_list(
    office: &Office,
    /// Only facilities in this town.
    location: Option<String>,
) -> Result<Vec<Facility>> {
    let _running = office.enter();
    let all = FACILITIES.iter().map(|(id, name, place)| Facility {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        location: (*place).to_owned(),
    });
    Ok(all
        .filter(|it| location.as_ref().is_none_or(|place| it.location == *place))
        .collect())
}

/// Lists the shipments of a facility.
#[tool(name = "shipments_list", read_only)]
#[derive(JsonSchema)]
pub(super) async fn shipments_list(
    office: &Office,
    facility_id: String,
    /// `in transit`, `delivered` or `delayed`.
    status: Option<String>,
) -> Result<Vec<Shipment>> {
    let _running = office.enter();
    if !FACILITIES.iter().any(|(id, ..)| *id == facility_id) {
        let error = format!("there is no facility `{facility_id}`");
        return Err(Error::permanent(error).with_code("NOT_FOUND"));
    }
    let mut found = shipments(&facility_id);
    found.retain(|it| status.as_ref().is_none_or(|status| it.status == *status));
    Ok(found)
}

/// Moves a shipment to another facility, and returns the moved shipment.
#[tool(name = "shipment_move")]
#[derive(JsonSchema)]
pub(super) async fn move_shipment(
    office: &Office,
    #[context] context: CallContext,
    id: String,
    to: String,
) -> Result<Shipment> {
    let _running = office.enter();
    let known = FACILITIES
        .iter()
        .flat_map(|(facility, ..)| shipments(facility));
    let Some(shipment) = known.into_iter().find(|it| it.id == id) else {
        return Err(Error::permanent(format!("there is no shipment `{id}`")).with_code("NOT_FOUND"));
    };
    if !FACILITIES.iter().any(|(facility, ..)| *facility == to) {
        return Err(Error::permanent(format!("there is no facility `{to}`")).with_code("NOT_FOUND"));
    }
    office.effect(&context, "shipment_move", |_| Shipment {
        facility_id: to,
        ..shipment
    })
}
