import './deliveries.ts'
import { defineFacts, type Fact, readerOf } from './fact.ts'

/** What the audit log says about a change. A parameter must be no key, token, secret or recipient. */
export const changes = defineFacts('change', {
  generateKey: 'generated the API key',
  regenerateKey: 'replaced the API key',
  revokeKey: 'revoked the API key',
  suspendAccount: 'suspended the account',
  resumeAccount: 'resumed the account',
  suspendAccountAsOperator: 'suspended the account as an operator of this server',
  resumeAccountAsOperator: 'resumed the account as an operator of this server',
  enableApi: 'enabled API access',
  disableApi: 'disabled API access',
  emptyAllowList: 'emptied the allow-list',
  setAllowList: 'set the allow-list to {entries}',
  setMemberRole: 'changed the role of {email} to {role}',
  removeMember: 'removed {email}',
  resetPassword: 'reset the password of {email}',
  inviteMember: { owner: 'invited {email} as owner', viewer: 'invited {email} as viewer' },
  revokeInvitation: 'revoked the invitation of {email}',
  allowTemplateChanges: 'allowed template changes by the API key',
  forbidTemplateChanges: 'forbade template changes by the API key',
  enableMcp: 'turned on MCP for AI assistants',
  disableMcp: 'turned off MCP for AI assistants',
  dropMessageContents: 'stopped storing message contents and deleted those stored',
  keepMessageContentsForADay: 'stored message contents for 1 day',
  keepMessageContents: 'stored message contents for {days} days',
  setRateLimit: 'set the rate limit to {rateLimit} a minute',
  setTimeZone: 'set the time zone to {timeZone}',
  createTemplate: 'created the template {name} ({language})',
  updateTemplate: 'changed the template {name} ({language})',
  deleteTemplate: 'deleted the template {name} ({language})',
  deleteTemplateInAllLanguages: 'deleted the template {name} (all languages)',
  duplicateTemplate: 'copied the template {name} ({language})',
  tryTemplate: 'sent a test message with the template {template} ({language})',
  exportMessages: 'exported messages as CSV',
  exportMessagesByApi: 'exported messages by API',
  exportAuditLog: 'exported the audit log as CSV',
  uploadSample: 'uploaded a sample {format} for a template',
  uploadMedia: 'uploaded a file',
  deleteMedia: 'deleted the file {mediaId}',
  pushTemplates: 'pushed template files',
  syncTemplates: 'synced the templates',
  addWhatsAppAccount: 'added the WhatsApp account of phone number ID {phoneNumberId}',
  addUnverifiedWhatsAppAccount: 'added the WhatsApp account of phone number ID {phoneNumberId} unverified',
  inspectToken: 'checked an access token with WhatsApp',
  replaceNothing: 'replaced nothing of {whatsAppAccountId}',
  replaceSecrets: 'replaced the {what} of {whatsAppAccountId}',
  secret: { accessToken: 'access token', appSecret: 'app secret', wabaId: 'WABA' },
  testToken: 'tested the token of {whatsAppAccountId}',
  refreshToken: 'refreshed the access token of {whatsAppAccountId}',
  checkHealth: 'checked {whatsAppAccountId} with WhatsApp',
  subscribeApp: 'subscribed the app of {whatsAppAccountId} to its callbacks',
  configureCallback: 'set the callback URL of the app of {whatsAppAccountId}',
  registerNumber: 'registered the phone number of {whatsAppAccountId}',
  connectWhatsAppAccount: 'connected phone number ID {phoneNumberId}',
  makeDefault: 'made {whatsAppAccountId} the default',
  activate: 'activated {whatsAppAccountId}',
  deactivate: 'deactivated {whatsAppAccountId}',
  setMarketing: 'set the marketing endpoint of {whatsAppAccountId} to {setting}',
  setMessagingAccount: 'set the messaging account of {whatsAppAccountId} to {setting}',
  removeWhatsAppAccount: 'removed {whatsAppAccountId}',
  loseNumber:
    'removed {whatsAppAccountId}: WhatsApp rejected its token, and another account verified ownership of the phone number',
  replaceDefault: '{change}; {whatsAppAccountId} is the default now',
  sendMessageAgain: 'sent {messageId} again',
  resolveMessage: 'resolved {messageId} as {as}',
  eraseRecipient: 'erased a recipient',
  exportRecipient: 'exported the data of a recipient',
  createAccount: 'created the account as an operator of this server',
  createAccountAndInvite: 'created the account as an operator of this server, and invited {email} as owner',
  exportAccount: 'exported the data of the account',
  removeAccount: 'removed the account',
  viewAccount: 'opened the account to view it as an operator of this server',
  endView: 'stopped viewing the account as an operator of this server',
  listAccounts: 'read the list of all accounts as an operator of this server',
  grantOperator: 'made {email} an operator of this server',
  revokeOperator: 'revoked the operator access of {email}',
  addSuppression: 'added 1 recipient to the suppression list',
  addSuppressions: 'added {count} recipients to the suppression list',
  removeSuppression: 'removed a recipient from the suppression list',
  setSuppressedCategories: 'set the categories that suppressed recipients do not get to {categories}',
  setAlertChat: 'set the chat for alerts',
  removeAlertChat: 'removed the chat for alerts',
  testAlertChat: 'posted a test message to the chat for alerts',
  updateAlertRules: 'changed {rules} of alerts',
  rule: {
    failureRatePercent: 'failure rate',
    failureRateMinMessages: 'minimum of messages',
    deliveryLagSeconds: 'delivery lag',
    noStatusMinMessages: 'missing statuses',
    quietHours: 'quiet hours',
    repeatHours: 'repetition',
  },
  resumeAlertEmails: 'resumed alerts by email to themselves',
  stopAlertEmails: 'stopped alerts by email to themselves',
  testAlertEmail: 'sent themselves a test email for alerts',
  acknowledgeAlert: 'acknowledged the alert {alertId}',
  addEndpoint: 'added a webhook endpoint',
  addEndpointAt: 'added a webhook endpoint at {host}',
  updateEndpoint: 'changed {fields} of the webhook endpoint {endpointId}',
  field: {
    url: 'the URL',
    events: 'the events',
    description: 'the description',
    headers: 'the headers',
    maxPerSecond: 'the deliveries per second',
    maxConcurrent: 'the concurrent requests',
    urlAt: 'the URL to {host}',
    maxPerSecondTo: 'the deliveries per second to {limit}',
    maxConcurrentTo: 'the concurrent requests to {limit}',
    noLimit: 'no limit',
  },
  enableEndpoint: 'enabled the webhook endpoint {endpointId}',
  disableEndpoint: 'disabled the webhook endpoint {endpointId}',
  removeEndpoint: 'removed the webhook endpoint {endpointId}',
  testEndpoint: 'sent a test event to {endpointId}',
  revealSecret: 'revealed the secret of {endpointId}',
  rotateSecret: 'rotated the secret of {endpointId}',
  retryDelivery: 'retried the delivery {deliveryId}',
  recoverDeliveries: 'recovered deliveries to {endpointId} since {since}',
  recoverFailures: 'recovered deliveries to {endpointId} since {since} that failed with "{error}"',
  signOut: 'signed out',
  changePassword: 'changed their password',
  beginAuthenticator: 'began to set up an authenticator app',
  disableAuthenticator: 'disabled their authenticator app',
  confirmAuthenticator: 'confirmed their authenticator app',
  acceptInvitation: 'accepted an invitation as {role}',
  chooseNewPassword: 'chose a new password',
  verifyEmail: 'verified their email address, which removed their earlier password and authenticator app',
  askForPasswordLink: 'asked for an email to reset their password',
  setPasswordByLink: 'set a new password with a link from an email',
  endSession: 'ended a session of {device}',
  endOtherSessions: 'ended all their other sessions',
  signIn: {
    password: 'signed in with a password',
    code: 'signed in with a code of their authenticator app',
    backupCode: 'signed in with a backup code',
    organisation: 'signed in with their organisation',
    link: 'signed in with a link',
    awaitsCode: 'gave their password, and was asked for a code',
    lockedOut: 'was locked out after too many attempts',
  },
  adoptEntry: 'brought 1 earlier entry into the hash chain',
  adoptEntries: 'brought {count} earlier entries into the hash chain',
  both: '{first} and {rest}',
  list: '{first}, {rest}',
})

/** Who changes something, and from where, besides email and IP addresses. The texts are stored. */
export const actors = defineFacts('actor', {
  operator: 'operator',
  apiKey: 'API key',
  commandLine: 'command line',
  server: 'server',
  upgrade: 'upgrade',
})
export const readActor = readerOf(actors)

export const devices = defineFacts('device', { both: '{browser} on {system}', unknown: 'Unknown device' })

export const roles = defineFacts('role', { owner: 'owner', viewer: 'viewer' })

/** The change for a switch. */
export const switches = {
  api: (enabled: boolean) => (enabled ? changes.enableApi() : changes.disableApi()),
  templateChanges: (enabled: boolean) => (enabled ? changes.allowTemplateChanges() : changes.forbidTemplateChanges()),
  mcp: (enabled: boolean) => (enabled ? changes.enableMcp() : changes.disableMcp()),
}

export function contentsChange(days: number | null): Fact {
  if (days === null) return changes.dropMessageContents()
  return days === 1 ? changes.keepMessageContentsForADay() : changes.keepMessageContents({ days })
}

export function accountAddition({ phoneNumberId, unverified }: { phoneNumberId: string; unverified: boolean }): Fact {
  const { addWhatsAppAccount: add, addUnverifiedWhatsAppAccount: addUnverified } = changes
  return unverified ? addUnverified({ phoneNumberId }) : add({ phoneNumberId })
}

export function templateDeletion({ name, language }: { name: string; language?: string | undefined }): Fact {
  return language === undefined
    ? changes.deleteTemplateInAllLanguages({ name })
    : changes.deleteTemplate({ name, language })
}
