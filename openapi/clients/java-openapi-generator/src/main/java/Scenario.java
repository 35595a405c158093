import java.util.UUID;

/** The scenario of openapi/clients/scenario.json, with the client that openapi-generator makes. */
public final class Scenario {
  private Scenario() {}

  public static void main(String[] arguments) throws Exception {
    Parties parties = Parties.of(System.getenv());
    Incidents incidents = new Incidents(parties);
    UUID incident = incidents.create();
    incidents.list(incident);
    String reference = incident.toString();
    incidents.update(reference);
    new Actions(parties).contain(reference);
    Automation automation = new Automation(parties);
    automation.triage(reference);
    automation.run(reference);
    new Delivery(parties).deliver();
    incidents.invalid();
  }
}
