import { RemovalPolicy } from "aws-cdk-lib";

/**
 * Returns the removal policy: resources with data are retained in production. A creation that is rolled back deletes them:
 * they are empty, and their fixed names would block the next attempt.
 */
export const keepOrDrop = (keeps: boolean): RemovalPolicy =>
  keeps ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
