//! The scenario of openapi/clients/scenario.json, with the client that openapi-generator makes.
#![deny(warnings)]

mod actions;
mod automation;
mod incidents;
mod outcome;

use openapi::apis::access_api::create_api_key;
use openapi::apis::configuration::Configuration;
use openapi::models::{ApiKeyInput, ApiKeyLimits, Role};
use outcome::{Outcome, Step, ok};
use std::env;

/// Who takes part: the administrator makes the keys of the other two.
struct Caller {
    admin: Configuration,
    analyst: Configuration,
    senior: Configuration,
    /// Sends what needs no key.
    stranger: Configuration,
    /// A word that no run before had.
    run: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let caller = callers().await?;
    let incident = incidents::create(&caller).await?;
    incidents::list(&caller, &incident).await?;
    let incident = incident.to_string();
    incidents::update(&caller, &incident).await?;
    actions::contain(&caller, &incident).await?;
    automation::triage(&caller, &incident).await?;
    automation::run_playbook(&caller, &incident).await?;
    automation::deliver(&caller).await?;
    incidents::invalid(&caller).await
}

async fn callers() -> Outcome<Caller> {
    let run = env::var("RUN")?;
    let admin = connect(Some(env::var("ADMIN_KEY")?))?;
    let limits = ApiKeyLimits {
        triage: Some(1),
        ..Default::default()
    };
    let analyst = new_key(&admin, &run, Role::Analyst, Some(limits)).await?;
    let senior = new_key(&admin, &run, Role::Senior, None).await?;
    ok("key");
    Ok(Caller {
        analyst,
        senior,
        stranger: connect(None)?,
        admin,
        run,
    })
}

async fn new_key(
    admin: &Configuration,
    run: &str,
    role: Role,
    limits: Option<ApiKeyLimits>,
) -> Outcome<Configuration> {
    let mut body = ApiKeyInput::new(format!("{role}-{run}"), role);
    body.limits = limits.map(Box::new);
    let made = create_api_key(admin, body, None).await.step("a key")?;
    connect(Some(made.data.key))
}

fn connect(key: Option<String>) -> Outcome<Configuration> {
    Ok(Configuration {
        base_path: env::var("SERVICE_URL")?,
        bearer_access_token: key,
        ..Default::default()
    })
}
