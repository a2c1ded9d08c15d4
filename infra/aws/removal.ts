import { RemovalPolicy } from "aws-cdk-lib";

/** Returns the removal policy: resources with data are retained in production. */
export const keepOrDrop = (keeps: boolean): RemovalPolicy =>
  keeps ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
