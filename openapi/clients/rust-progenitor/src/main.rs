//! The scenario of openapi/clients/scenario.json, with the client that progenitor makes.
#![deny(warnings)]

mod actions;
mod api {
    progenitor::generate_api!("openapi.json");
}
mod automation;
mod incidents;
mod outcome;

use api::{Client, types};
use outcome::{Outcome, Step, ok};
use std::env;

/// Who takes part: the administrator makes the keys of the other two.
struct Caller {
    admin: Client,
    analyst: Client,
    senior: Client,
    /// Sends what needs no key.
    stranger: Client,
    /// A word that no run before had.
    run: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let caller = callers().await?;
    let incident = incidents::create(&caller).await?;
    incidents::list(&caller, &incident).await?;
    let incident = incident.to_string().parse()?;
    incidents::update(&caller, &incident).await?;
    actions::contain(&caller, &incident).await?;
    automation::triage(&caller, &incident).await?;
    automation::run_playbook(&caller, &incident).await?;
    automation::deliver(&caller).await?;
    incidents::invalid(&caller).await
}

async fn callers() -> Outcome<Caller> {
    let (url, run) = (env::var("SERVICE_URL")?, env::var("RUN")?);
    let admin = connect(&url, Some(&env::var("ADMIN_KEY")?))?;
    let limits = types::ApiKeyLimits {
        triage: Some(1),
        ..Default::default()
    };
    let analyst = new_key(&admin, &run, types::Role::Analyst, Some(limits)).await?;
    let senior = new_key(&admin, &run, types::Role::Senior, None).await?;
    ok("key");
    Ok(Caller {
        analyst: connect(&url, Some(&analyst))?,
        senior: connect(&url, Some(&senior))?,
        stranger: connect(&url, None)?,
        admin,
        run,
    })
}

async fn new_key(
    admin: &Client,
    run: &str,
    role: types::Role,
    limits: Option<types::ApiKeyLimits>,
) -> Outcome<String> {
    let name = format!("{role}-{run}").try_into()?;
    let body = types::ApiKeyInput {
        name,
        role,
        limits,
        limit_class: None,
        expires_in_days: None,
    };
    let made = admin.create_api_key(None, &body).await.step("a key")?;
    Ok(made.into_inner().data.key)
}

fn connect(url: &str, key: Option<&str>) -> Outcome<Client> {
    let mut headers = reqwest::header::HeaderMap::new();
    if let Some(key) = key {
        headers.insert("authorization", format!("Bearer {key}").parse()?);
    }
    let http = reqwest::Client::builder()
        .default_headers(headers)
        .build()?;
    Ok(Client::new_with_client(url, http))
}
