import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Config } from "../config.ts";
import { Database, databasePort } from "../constructs/database.ts";
import { Network } from "../constructs/network.ts";
import { upstreamPorts } from "../upstream-urls.ts";

/** What outlives the others: the network, the database with its schema, and the secrets. */
export class DataStack extends Stack {
  readonly network: Network;
  readonly database: Database;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id, { terminationProtection: config.keepsData });
    const { database } = config;
    this.network = new Network(this, "Network", {
      ...config,
      choice: config.network,
      upstreamPorts: upstreamPorts(config),
      databasePort: databasePort(database),
      databaseGroup: database.kind === "existing" ? { existing: database.securityGroupId } : "new",
    });
    this.database = new Database(this, "Database", { config, network: this.network });
  }
}
