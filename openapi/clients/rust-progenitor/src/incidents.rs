use crate::Caller;
use crate::api::types::{
    IncidentId, IncidentInput, IncidentReference, IncidentStatus, IncidentUpdate, Severity,
};
use crate::outcome::{Outcome, Step, check, ok};
use reqwest::header::ETAG;
use serde_json::{Map, Value, json};
use std::num::NonZeroU32;

fn phishing(caller: &Caller, raw_data: Value) -> Outcome<IncidentInput> {
    Ok(IncidentInput {
        incident_type: "phishing".parse()?,
        raw_data: object(raw_data),
        severity: Some(Severity::High),
        source: caller.run.parse()?,
        title: None,
    })
}

/// The members of an object that is written in place.
pub fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

pub async fn create(caller: &Caller) -> Outcome<IncidentId> {
    let body = phishing(
        caller,
        json!({ "sender": "ceo@example.com", "subject": "Urgent" }),
    )?;
    let key = format!("first-{}", caller.run).parse()?;
    let first = caller
        .analyst
        .create_incident(Some(&key), &body)
        .await
        .step("create")?;
    let again = caller
        .analyst
        .create_incident(Some(&key), &body)
        .await
        .step("create again")?;
    check(
        *first.data.id == *again.data.id,
        "an Idempotency-Key makes one incident",
    )?;
    caller
        .analyst
        .create_incident(None, &body)
        .await
        .step("create a second one")?;
    ok("create");
    Ok(first.data.id.clone())
}

pub async fn list(caller: &Caller, first: &IncidentId) -> Outcome<()> {
    let severity = vec![Severity::High, Severity::Critical];
    let status = vec![IncidentStatus::Open, IncidentStatus::Triaged];
    let (newest_first, source) = (vec!["-created_at".parse()?], caller.run.parse()?);
    let page_of = async |page| {
        let (page, per_page) = (NonZeroU32::new(page), NonZeroU32::new(1));
        caller
            .analyst
            .list_incidents(
                None,
                None,
                None,
                None,
                page,
                per_page,
                None,
                None,
                Some(&severity),
                Some(&newest_first),
                Some(&source),
                Some(&status),
                None,
                None,
            )
            .await
            .step("list")
    };
    let newest = page_of(1).await?;
    check(newest.meta.total == 2, "two incidents are of this source")?;
    check(
        newest.data.len() == 1 && *newest.data[0].id != **first,
        "the newest one is listed first",
    )?;
    ok("list");
    let next = page_of(2).await?;
    check(
        next.data.len() == 1 && *next.data[0].id == **first,
        "the first one is on the next page",
    )?;
    ok("next page");
    Ok(())
}

pub async fn update(caller: &Caller, incident: &IncidentReference) -> Outcome<()> {
    let read = caller.analyst.get_incident(incident).await.step("get")?;
    let etag = read
        .headers()
        .get(ETAG)
        .ok_or("no ETag")?
        .to_str()?
        .parse()?;
    let raise = IncidentUpdate {
        severity: Some(Severity::Critical),
        ..Default::default()
    };
    let raised = caller
        .analyst
        .update_incident(incident, Some(&etag), &raise)
        .await
        .step("update")?;
    check(
        raised.data.severity == Severity::Critical,
        "the incident is critical",
    )?;
    ok("update");
    let lower = IncidentUpdate {
        severity: Some(Severity::Low),
        ..Default::default()
    };
    let stale = caller
        .analyst
        .update_incident(incident, Some(&etag), &lower)
        .await;
    stale.refused(412, "precondition_failed")?;
    let kept = caller
        .analyst
        .get_incident(incident)
        .await
        .step("get again")?;
    check(
        kept.data.severity == Severity::Critical,
        "the incident stays as it is",
    )?;
    ok("stale");
    Ok(())
}

pub async fn invalid(caller: &Caller) -> Outcome<()> {
    let body = phishing(caller, json!({ "received_at": "yesterday" }))?;
    let answer = caller.analyst.create_incident(None, &body).await;
    let (error, _) = answer.refused(422, "validation_error")?;
    let fields = error
        .details
        .map(|details| details.errors)
        .unwrap_or_default();
    check(
        fields
            .iter()
            .any(|error| error.field == "raw_data.received_at"),
        "the details name raw_data.received_at",
    )?;
    ok("invalid");
    Ok(())
}
