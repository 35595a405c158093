use crate::Caller;
use crate::outcome::{Outcome, Step, check, ok};
use openapi::apis::incidents_api::{
    create_incident, get_incident, list_incidents, update_incident,
};
use openapi::models::{
    IncidentInput, IncidentSort, IncidentStatus, IncidentSummaryList, IncidentUpdate, Severity,
};
use reqwest::header::ETAG;

fn phishing(caller: &Caller, key: &str, value: &str) -> IncidentInput {
    let mut body = IncidentInput::new("phishing".into(), caller.run.clone());
    body.severity = Some(Severity::High);
    body.raw_data = Some([(key.into(), value.into())].into());
    body
}

pub async fn create(caller: &Caller) -> Outcome<String> {
    let body = phishing(caller, "sender", "ceo@example.com");
    let once = format!("first-{}", caller.run);
    let mut made = Vec::new();
    for key in [Some(once.as_str()), Some(once.as_str()), None] {
        let answer = create_incident(&caller.analyst, body.clone(), key).await;
        made.push(answer.step("an incident")?.data.id.to_string());
    }
    check(made[0] == made[1], "an Idempotency-Key makes one incident")?;
    check(made[0] != made[2], "without one there are two")?;
    ok("create");
    Ok(made.swap_remove(0))
}

pub async fn list(caller: &Caller, first: &str) -> Outcome<()> {
    let newest = page(caller, 1).await?;
    check(newest.meta.total == 2, "two incidents are of this source")?;
    check(newest.data.len() == 1, "one is on a page")?;
    check(
        newest.data[0].id.to_string() != first,
        "the newest is first",
    )?;
    ok("list");
    let next = page(caller, 2).await?;
    check(
        next.data[0].id.to_string() == first,
        "the first one is next",
    )?;
    ok("next page");
    Ok(())
}

async fn page(caller: &Caller, page: i32) -> Outcome<IncidentSummaryList> {
    list_incidents(
        &caller.analyst,
        Some(page),
        Some(1),
        Some(vec![IncidentStatus::Open, IncidentStatus::Triaged]),
        Some(vec![Severity::High, Severity::Critical]),
        None,
        Some(&caller.run),
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        Some(vec![IncidentSort::CreatedAtDesc]),
    )
    .await
    .step("a page")
}

pub async fn update(caller: &Caller, id: &str) -> Outcome<()> {
    let etag = etag(caller, id).await?;
    let body = |severity| IncidentUpdate {
        severity: Some(Some(severity)),
        ..Default::default()
    };
    let raised = update_incident(&caller.analyst, id, body(Severity::Critical), Some(&etag)).await;
    check(
        raised.step("update")?.data.severity == Severity::Critical,
        "the incident is critical",
    )?;
    ok("update");
    let stale = update_incident(&caller.analyst, id, body(Severity::Low), Some(&etag)).await;
    stale.refused(412, "precondition_failed")?;
    let kept = get_incident(&caller.analyst, id).await.step("read")?;
    check(
        kept.data.severity == Severity::Critical,
        "the incident stays as it is",
    )?;
    ok("stale");
    Ok(())
}

/// The client keeps no headers of an answer.
async fn etag(caller: &Caller, id: &str) -> Outcome<String> {
    let address = format!("{}/api/incidents/{id}", caller.analyst.base_path);
    let key = caller
        .analyst
        .bearer_access_token
        .as_ref()
        .ok_or("no key")?;
    let request = caller.analyst.client.get(address).bearer_auth(key);
    let answer = request.send().await?;
    Ok(answer.headers()[ETAG].to_str()?.into())
}

pub async fn invalid(caller: &Caller) -> Outcome<()> {
    let body = phishing(caller, "received_at", "yesterday");
    let answer = create_incident(&caller.analyst, body, None).await;
    let error = answer.refused(422, "validation_error")?;
    let wrong = error
        .details
        .and_then(|details| details.errors)
        .unwrap_or_default();
    check(
        wrong.iter().any(|one| one.field == "raw_data.received_at"),
        "the details name raw_data.received_at",
    )?;
    ok("invalid");
    Ok(())
}
