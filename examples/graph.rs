//! A plan as data: the questions that a program can ask before a run. The example runs no plan.

use plan_runtime::plan::Step;
use plan_runtime::{Plan, Result, Shape, Terminal, plan, tool};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
struct Person {
    full_name: String,
    mail_addresses: Vec<String>,
    manager: Option<Box<Person>>,
}

#[derive(Serialize, Deserialize, Shape)]
struct Room {
    number: u32,
    #[serde(rename = "seats/max")]
    seats: u32,
}

/// Finds the members of a team.
#[tool]
async fn find_team(name: String) -> Result<Vec<Person>> {
    unimplemented!("no one looks for {name}")
}

/// Finds a free room.
#[tool]
async fn find_room(day: String) -> Result<Room> {
    unimplemented!("no one needs a room on {day}")
}

/// Invites people to a room.
#[tool]
async fn invite(to: Vec<String>, cc: Option<String>, text: String, seats: u32) -> Result<u64> {
    unimplemented!("{to:?} {cc:?} {text} {seats}")
}

/// Puts a note on a room's door.
#[tool]
async fn label_door(room: u32, text: String) -> Result<()> {
    unimplemented!("{room} {text}")
}

plan! {
    /// Invites a team to a meeting.
    Meet(team: String, day: String) -> u64 {
        /// Who is it?
        step people = FindTeam { name: team };
        /// Where is there space?
        step room = FindRoom { day };
        step invited = Invite {
            to: people[..].mail_addresses[0],
            cc: people.get(0)?.manager?.full_name,
            text: format!("Meeting on {day} in room {}", room.number),
            seats: room.seats,
        };
        #[after(invited)]
        step label = LabelDoor { room: room.number, text: team };
        invited
    }
}

fn names(steps: &[&Step]) -> String {
    let names: Vec<&str> = steps.iter().map(|step| step.id.as_ref()).collect();
    if names.is_empty() {
        "nothing".into()
    } else {
        names.join(", ")
    }
}

fn main() -> serde_json::Result<()> {
    let plan: &'static Plan = Meet::PLAN;
    println!("{}", Terminal::stdout().plan(plan));

    println!("levels, whose steps may run concurrently:");
    for (number, level) in plan.levels().iter().enumerate() {
        println!("  {number}: {}", names(level));
    }

    println!("\neach step:");
    for step in &plan.steps {
        let tool = step.tool().expect("every step calls a tool");
        println!("  {}  ({}: {})", step.id, tool.name, tool.description);
        println!("    needs      {}", names(&plan.dependencies(&step.id)));
        println!("    needed by  {}", names(&plan.dependents(&step.id)));
        println!("    takes down {}", names(&plan.blocked_by(&step.id)));
        for usage in step.references() {
            let mut place = plan
                .name_of(usage.reference.source)
                .unwrap_or("?")
                .to_owned();
            for (number, pointer) in usage.reference.pointers().iter().enumerate() {
                if number > 0 {
                    place = format!("each element of {place}");
                }
                if !pointer.as_str().is_empty() {
                    place = format!("{} of {place}", pointer.as_str());
                }
            }
            let maybe = if usage.reference.is_optional() {
                ", which may be absent"
            } else {
                ""
            };
            let line = format!(
                "    argument {:6} is {}: {place}{maybe}",
                usage.place, usage.reference
            );
            println!("{}", Terminal::stdout().text(line));
        }
    }

    let json = serde_json::to_value(plan)?;
    println!("\nthe step `label` in the plan's JSON:");
    println!("{:#}", json["steps"][3]);

    let text = serde_json::to_string(plan)?;
    let again: Plan = serde_json::from_str(&text)?;
    println!(
        "\nread back from JSON, it is the same plan: {}",
        again == *plan
    );
    Ok(())
}
