/**
 * What AWS documents of a resource type. Names of properties are CloudFormation's.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
 */
export interface ResourceType {
  /** Properties with "Update requires: Replacement" on the page of the type. */
  readonly replacedBy?: readonly string[];
  /** Properties whose values no two resources of the account and region may share. A name that is absent is generated. */
  readonly unique?: readonly string[];
  /** What is lost with the resource; absent for what a deployment can create again. */
  readonly data?: string;
  /** Properties of other types that refer to it, as `Type.Property`. Its service rejects the deletion meanwhile. */
  readonly usedBy?: readonly string[];
  /**
   * Whether `--import-existing-resources` takes it over by its name, which must be its identifier.
   *
   * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-automatically.html
   */
  readonly isImportedByName?: true;
}

/** "You cannot delete a security group that is associated with an instance or network interface" (API_DeleteSecurityGroup). */
const usersOfGroup = [
  "RDS::DBCluster.VpcSecurityGroupIds",
  "RDS::DBInstance.VPCSecurityGroups",
  "Lambda::Function.VpcConfig",
  "ECS::Service.NetworkConfiguration",
  // "... or is referenced by another security group in the same VPC" (same page)
  "EC2::SecurityGroupIngress.SourceSecurityGroupId",
  "EC2::SecurityGroupEgress.DestinationSecurityGroupId",
];

const rule = ["GroupId", "IpProtocol", "FromPort", "ToPort", "CidrIp", "CidrIpv6"];

/** The types that the templates contain, by their name without `AWS::`. */
const resourceTypes: Readonly<Record<string, ResourceType>> = {
  // "An account's settings of API Gateway for a region": each overwrites the one before
  "ApiGateway::Account": {},
  "ApiGateway::Authorizer": { replacedBy: ["RestApiId"] },
  "ApiGateway::BasePathMapping": {
    replacedBy: ["DomainName", "BasePath"],
    // ConflictException (API_CreateBasePathMapping)
    unique: ["DomainName", "BasePath"],
  },
  "ApiGateway::Deployment": {
    replacedBy: ["RestApiId"],
    // "Active stages pointing to this deployment must be moved or deleted" (API_DeleteDeployment)
    usedBy: ["ApiGateway::Stage.DeploymentId"],
  },
  "ApiGateway::DomainName": { replacedBy: ["DomainName"], unique: ["DomainName"] },
  "ApiGateway::GatewayResponse": {
    replacedBy: ["ResponseType", "RestApiId"],
    unique: ["RestApiId", "ResponseType"],
  },
  "ApiGateway::Method": {
    replacedBy: ["HttpMethod", "ResourceId", "RestApiId"],
    unique: ["RestApiId", "ResourceId", "HttpMethod"],
  },
  "ApiGateway::Resource": {
    replacedBy: ["ParentId", "PathPart", "RestApiId"],
    unique: ["RestApiId", "ParentId", "PathPart"],
  },
  "ApiGateway::RestApi": {},
  "ApiGateway::Stage": { replacedBy: ["StageName", "RestApiId"], unique: ["RestApiId", "StageName"] },
  "ApiGateway::UsagePlan": {},
  "Backup::BackupPlan": {},
  "Backup::BackupSelection": { replacedBy: ["BackupPlanId", "BackupSelection"] },
  "Backup::BackupVault": {
    replacedBy: ["BackupVaultName", "EncryptionKeyArn"],
    unique: ["BackupVaultName"],
    isImportedByName: true,
  },
  "Budgets::Budget": {
    replacedBy: ["NotificationsWithSubscribers"],
    // DuplicateRecordException: "The budget name already exists" (API_budgets_CreateBudget)
    unique: ["Budget.BudgetName"],
  },
  "CloudWatch::Alarm": { replacedBy: ["AlarmName"], unique: ["AlarmName"] },
  "CloudWatch::Dashboard": { replacedBy: ["DashboardName"], unique: ["DashboardName"] },
  // "can't release an Elastic IP address that is associated" (API_ReleaseAddress)
  "EC2::EIP": { replacedBy: ["Domain"], usedBy: ["EC2::NatGateway.AllocationId"] },
  "EC2::EgressOnlyInternetGateway": { replacedBy: ["VpcId"] },
  "EC2::FlowLog": {
    replacedBy: [
      ...["DeliverLogsPermissionArn", "LogDestinationType", "LogGroupName"],
      ...["ResourceId", "ResourceType", "TrafficType"],
    ],
  },
  // "must detach the internet gateway from its VPC before you can delete it" (API_DeleteInternetGateway)
  "EC2::InternetGateway": { usedBy: ["EC2::VPCGatewayAttachment.InternetGatewayId"] },
  "EC2::NatGateway": { replacedBy: ["AllocationId", "SubnetId"] },
  "EC2::Route": {
    replacedBy: ["RouteTableId", "DestinationCidrBlock", "DestinationIpv6CidrBlock"],
    // RouteAlreadyExists (EC2 API reference, error codes)
    unique: ["RouteTableId", "DestinationCidrBlock", "DestinationIpv6CidrBlock"],
  },
  // "must disassociate the route table from any subnets before you can delete it" (API_DeleteRouteTable)
  "EC2::RouteTable": {
    replacedBy: ["VpcId"],
    usedBy: ["EC2::SubnetRouteTableAssociation.RouteTableId"],
  },
  "EC2::SecurityGroup": { replacedBy: ["GroupDescription", "GroupName", "VpcId"], usedBy: usersOfGroup },
  "EC2::SecurityGroupEgress": {
    replacedBy: [...rule, "DestinationSecurityGroupId"],
    // InvalidPermission.Duplicate (EC2 API reference, error codes)
    unique: [...rule, "DestinationSecurityGroupId"],
  },
  "EC2::SecurityGroupIngress": {
    replacedBy: [...rule, "SourceSecurityGroupId"],
    unique: [...rule, "SourceSecurityGroupId"],
  },
  "EC2::Subnet": {
    replacedBy: ["AvailabilityZone", "CidrBlock", "Ipv6CidrBlock", "VpcId"],
    // InvalidSubnet.Conflict (EC2 API reference, error codes)
    unique: ["VpcId", "CidrBlock"],
    // "must terminate all running instances in the subnet" (API_DeleteSubnet); for the database see `findUse`
    usedBy: ["EC2::NatGateway.SubnetId", "Lambda::Function.VpcConfig", "ECS::Service.NetworkConfiguration"],
  },
  "EC2::SubnetRouteTableAssociation": { replacedBy: ["RouteTableId", "SubnetId"] },
  "EC2::VPC": {
    replacedBy: ["CidrBlock"],
    // "must detach or delete all gateways and resources that are associated with the VPC" (API_DeleteVpc)
    usedBy: [
      ...["EC2::Subnet.VpcId", "EC2::SecurityGroup.VpcId", "EC2::RouteTable.VpcId"],
      ...["EC2::VPCGatewayAttachment.VpcId", "EC2::EgressOnlyInternetGateway.VpcId"],
    ],
  },
  "EC2::VPCCidrBlock": { replacedBy: ["AmazonProvidedIpv6CidrBlock", "VpcId"] },
  "EC2::VPCGatewayAttachment": { replacedBy: ["VpcId"] },
  "ECS::Cluster": {
    replacedBy: ["ClusterName"],
    unique: ["ClusterName"],
    // ClusterContainsServicesException (API_DeleteCluster)
    usedBy: ["ECS::Service.Cluster"],
  },
  "ECS::Service": { replacedBy: ["Cluster", "LaunchType", "ServiceName"] },
  // each is a revision of its family
  "ECS::TaskDefinition": {
    replacedBy: [
      ...["ContainerDefinitions", "Cpu", "ExecutionRoleArn", "Family", "Memory", "NetworkMode"],
      ...["RequiresCompatibilities", "RuntimePlatform", "TaskRoleArn", "Volumes"],
    ],
  },
  "Events::EventBus": {
    replacedBy: ["Name"],
    unique: ["Name"],
    // "can't be deleted if it has any rules" (EventBridge user guide, deleting an event bus)
    usedBy: ["Events::Rule.EventBusName"],
  },
  "Events::Rule": { replacedBy: ["EventBusName", "Name"] },
  "IAM::ManagedPolicy": { replacedBy: ["Description", "ManagedPolicyName", "Path"] },
  "IAM::Policy": {},
  // "must not have any policies attached" (API_DeleteRole)
  "IAM::Role": { replacedBy: ["RoleName", "Path"], usedBy: ["IAM::Policy.Roles"] },
  // a deleted key waits 30 days, in which it can be taken back (API_ScheduleKeyDeletion)
  "KMS::Key": {},
  "Lambda::EventInvokeConfig": {
    replacedBy: ["FunctionName", "Qualifier"],
    unique: ["FunctionName", "Qualifier"],
  },
  "Lambda::Function": { replacedBy: ["FunctionName", "PackageType"], unique: ["FunctionName"] },
  "Lambda::Permission": {
    replacedBy: ["Action", "FunctionName", "Principal", "SourceAccount", "SourceArn"],
  },
  "Lambda::Version": { replacedBy: ["FunctionName", "CodeSha256", "Description"] },
  "Logs::LogGroup": {
    replacedBy: ["LogGroupName"],
    unique: ["LogGroupName"],
    data: "log lines",
  },
  "Logs::MetricFilter": { replacedBy: ["LogGroupName", "FilterName"] },
  "RDS::DBCluster": {
    replacedBy: [
      ...["DBClusterIdentifier", "DBSubnetGroupName", "DatabaseName", "Engine"],
      ...["KmsKeyId", "MasterUsername", "SnapshotIdentifier", "StorageEncrypted"],
    ],
    unique: ["DBClusterIdentifier"],
    data: "the database",
    // InvalidDBClusterStateFault: "has DB instances" (API_DeleteDBCluster)
    usedBy: ["RDS::DBInstance.DBClusterIdentifier"],
  },
  // "can't be associated with any DB clusters" (API_DeleteDBClusterParameterGroup)
  "RDS::DBClusterParameterGroup": {
    replacedBy: ["Description", "Family", "DBClusterParameterGroupName"],
    usedBy: ["RDS::DBCluster.DBClusterParameterGroupName"],
  },
  "RDS::DBInstance": {
    replacedBy: [
      ...["DBClusterIdentifier", "DBInstanceIdentifier", "DBName", "DBSubnetGroupName", "Engine"],
      ...["KmsKeyId", "MasterUsername", "Port", "StorageEncrypted"],
    ],
    unique: ["DBInstanceIdentifier"],
    // one of a cluster holds none, see `dataOf`
    data: "the database",
  },
  "RDS::EventSubscription": { replacedBy: ["SnsTopicArn", "SubscriptionName"] },
  // "can't be associated with any DB instances" (API_DeleteDBParameterGroup)
  "RDS::DBParameterGroup": {
    replacedBy: ["Description", "Family", "DBParameterGroupName"],
    usedBy: ["RDS::DBInstance.DBParameterGroupName"],
  },
  // "must not be associated with any DB instances" (API_DeleteDBSubnetGroup)
  "RDS::DBSubnetGroup": {
    replacedBy: ["DBSubnetGroupName"],
    usedBy: ["RDS::DBCluster.DBSubnetGroupName", "RDS::DBInstance.DBSubnetGroupName"],
  },
  "S3::Bucket": { replacedBy: ["BucketName"], unique: ["BucketName"], data: "anchors of the audit" },
  "S3::BucketPolicy": { replacedBy: ["Bucket"] },
  "SNS::Subscription": { replacedBy: ["Endpoint", "Protocol", "TopicArn"] },
  "SNS::Topic": { replacedBy: ["TopicName"], unique: ["TopicName"] },
  "SNS::TopicPolicy": {},
  // "must wait 60 seconds" before the name is free (API_DeleteQueue): shorter than a new deployment
  "SQS::Queue": { replacedBy: ["QueueName"], unique: ["QueueName"], data: "messages that wait" },
  "SQS::QueuePolicy": {},
  "Scheduler::Schedule": { replacedBy: ["Name"], unique: ["Name", "GroupName"] },
  // its schedules go with it (API_DeleteScheduleGroup)
  "Scheduler::ScheduleGroup": { replacedBy: ["Name"], unique: ["Name"] },
  "SecretsManager::RotationSchedule": { replacedBy: ["SecretId"] },
  // CloudFormation deletes it without a recovery window, so that its name is free at once (page of AWS::SecretsManager::Secret;
  // cloudformation-coverage-roadmap 1999)
  "SecretsManager::Secret": { replacedBy: ["Name"], unique: ["Name"], data: "a secret" },
  "SecretsManager::SecretTargetAttachment": { replacedBy: ["SecretId"] },
  "ServiceDiscovery::PrivateDnsNamespace": {
    replacedBy: ["Name", "Vpc"],
    // ConflictingDomainExists (Route 53, API_AssociateVPCWithHostedZone)
    unique: ["Name", "Vpc"],
    // "must delete all services that were created in the namespace" (API_DeleteNamespace)
    usedBy: ["ServiceDiscovery::Service.NamespaceId"],
  },
  "ServiceDiscovery::Service": {
    replacedBy: ["HealthCheckCustomConfig", "Name", "NamespaceId", "Type"],
    // ServiceAlreadyExists (API_CreateService)
    unique: ["Name", "NamespaceId"],
    // "any registered instances" (API_DeleteService)
    usedBy: ["ECS::Service.ServiceRegistries"],
  },
  "WAFv2::WebACL": {
    replacedBy: ["Name", "Scope"],
    unique: ["Name", "Scope"],
    // WAFAssociatedItemException (API_DeleteWebACL)
    usedBy: ["WAFv2::WebACLAssociation.WebACLArn"],
  },
  "WAFv2::WebACLAssociation": { replacedBy: ["ResourceArn", "WebACLArn"] },
  // "ServiceToken: updates are not supported" (AWS::CloudFormation::CustomResource)
  "Custom::Protection": {},
  "Custom::S3AutoDeleteObjects": {},
  "Custom::Trigger": {},
  "Custom::VpcRestrictDefaultSG": {},
};

export const typeOf = (name: string): ResourceType => {
  const found = resourceTypes[name.replace(/^AWS::/, "")];
  if (!found)
    throw new Error(`the life cycle has no rules for ${name}: add them from CloudFormation's reference`);
  return found;
};
