import { RemovalPolicy } from "aws-cdk-lib";

/** What becomes of something when its stack is deleted: it stays, where its loss would be one. */
export const keepOrDrop = (keeps: boolean): RemovalPolicy =>
  keeps ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
