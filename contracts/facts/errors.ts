import { defineFacts, readerOf } from './fact.ts'

/** What errors say to a user of the dashboard, and to callers in English. */
export const errorFacts = defineFacts('error', {
  signedOut: 'You are not signed in, or your session has ended. Sign in again.',
  signInFirst: 'Sign in first.',
  notYourAccount: 'accountId: you have no account with this ID.',
  viewOnly: 'You view this account as an operator, and operators cannot change it.',
  viewer: 'Viewers cannot change anything. Ask an owner of this account.',
  authenticatorNeeded: 'Operators need an authenticator app. Turn it on in your profile.',
  codeNeeded:
    'Operators need a session that was started with a code of their authenticator app. Sign in again with your password and a code.',
  otherSite:
    'This request was rejected because it came from a site other than the dashboard. Behind a proxy, pass the Host header on unchanged.',
  busy: 'The service is busy. Nothing was sent. Try again in a moment.',
  databaseUnavailable: 'The database is unavailable. Nothing was sent. Try again in a moment.',
  noRoute: 'There is no such route.',
  notYourWhatsAppAccount:
    'accountId: no WhatsApp account of yours has this ID. Leave it out to use the default account.',
  noDefault: 'No default WhatsApp account is set up. Add one, or name one in accountId.',
  activateFirst: 'This WhatsApp account is inactive and cannot send. Activate it first.',
  otherBusinessAccount: 'The phone number does not belong to this WhatsApp Business Account. Check both IDs.',
  messagingPermission:
    'This access token lacks the permission whatsapp_business_messaging, so WhatsApp would reject every send. Create one with this permission.',
  changedMeanwhile: 'The WhatsApp account was changed at the same time. Nothing was stored.',
  allowListChanged: 'Somebody else changed the allow-list at the same time. Your change was not saved. Try again.',
  suspended: 'This account is suspended: nothing is sent. Ask the operator of this server to resume it.',
  unreadableSecret:
    'The signing secret of this endpoint cannot be decrypted with the configured keys. Create a new one, or ask an operator to restore the key that encrypted it.',
  unreadableChat:
    'The URL of the chat cannot be decrypted with the configured keys. Replace the chat, or ask an operator to restore the key that encrypted it.',
  noMember: 'This account has no member with this email address.',
  passwordLink: 'This link sets a new password. Sign out, then open it again.',
  replacingInvitation:
    'This invitation verifies your email address and replaces your password. Sign out, then open it again.',
  canSignIn: 'You can already sign in to this server. Sign in, then open this link again.',
  userChanging: 'This user is being changed at the moment. Try again.',
  tooManyAttempts: 'Too many attempts. Try again later.',
  invitationGone: 'This invitation was already used or has expired. Ask your Waybill administrator for a new one.',
  memberAlready: 'This person is a member already. Change their role instead.',
  tooManyInvitations: 'Too many invitations. Try again later.',
  tooManyEmails: 'Too many emails wait to be sent. Try again later.',
  invitationOver: 'This invitation was already accepted, revoked or has expired.',
  noEmail: 'This server sends no email. Ask the people who run it to reset your password.',
  linkGone: 'This link was already used or has expired. Ask for a new one.',
  viewNameTaken: 'You already have a view with this name.',
  tooManyTestEmails: 'Too many test emails. Try again later.',
})

/** For those that are stored as their English texts, such as the errors of logged requests. */
export const readError = readerOf(errorFacts)

/** Each names the variable of its quota. */
export const quotaFacts = defineFacts('quota', {
  suppressions:
    'The suppression list of this account would exceed its quota of {quota} recipients (WAYBILL_SUPPRESSION_QUOTA). Nothing was added. Remove recipients, or ask the operator for a higher quota. Recipients can still opt out.',
  media:
    'With this file of {size} MB, the files of this account would exceed its quota of {quota} MB (WAYBILL_MEDIA_QUOTA_MB). Delete files, wait until some expire, or ask the operator for a higher quota.',
  templates:
    'This account has reached its quota of {quota} templates, deleted ones included (WAYBILL_TEMPLATE_QUOTA). Nothing was created. Ask the operator for a higher quota.',
  savedViews:
    'You have {views} saved views, and the quota is {quota} (WAYBILL_SAVED_VIEW_QUOTA). Delete one, or ask the operator for a higher quota.',
})

/** With values, which stored texts do not have. */
export const errorFactsWithValues = defineFacts('error', {
  field: '{field}: {problem}',
  fieldOnly: '{field}: {problem}.',
  sampleType: 'must be {type}. The file type is detected from the content, not the name.',
  internal: 'Internal error. Contact whoever operates this server, and include the request ID {requestId}.',
  inactiveAccount: 'The WhatsApp account {id} is inactive: {reason}.',
  rejectedAccount: 'The WhatsApp account {id} is inactive: {reason}. {advice}',
  numberInUse: 'Phone number ID {phoneNumberId} is already in use.',
  metaId: "The {name} must be digits only, as shown in Meta's WhatsApp Manager. It is not the phone number.",
  metaSecret: 'The {name} is empty or contains a space or another invalid character.',
  metaName: {
    phoneNumberId: 'phone number ID',
    wabaId: 'WABA ID',
    accessToken: 'access token',
    appSecret: 'app secret',
  },
  otherDefaultFirst: '{id} is the default WhatsApp account. Make another one the default first.',
  tokenNotVerified:
    'The access token could not be verified with WhatsApp: {reason}. Nothing was stored. Try again in a moment.',
  tokenRejected: 'WhatsApp rejects this access token ({words}).',
  numberNotShown:
    'WhatsApp does not show this phone number to this access token ({words}). Check the ID and the permissions of the token.',
  wabaNotShown:
    'WhatsApp does not show this WhatsApp Business Account to this access token ({words}). Check the ID and the permissions of the token.',
  whatsAppAccountNotFound: 'WhatsApp account {value} was not found.',
  endpointNotFound: 'Endpoint {value} was not found.',
  noAddress:
    '{value} is neither an IP address nor a CIDR range, such as 192.0.2.10, 192.0.2.0/24 or 2001:db8::/32. The allow-list is unchanged.',
  hasKey: 'Account {accountId} already has an API key.',
  lastOwner: '{email} is the last owner of this account. Make somebody else an owner first.',
  otherInvitation:
    'This invitation is for {invited}, and you are signed in as {email}. Sign out, or ask for an invitation to {email}.',
  templateNotApproved: 'The template {value} in language {language} is not approved: its status is {status}.',
  templateExists:
    'The template "{name}" in language {language} exists with other content ({status}). Update it, or choose another name.',
  endpoints: 'An account can have at most {maxEndpoints} endpoints. Remove one first.',
  endpointUrl: 'The URL of an endpoint {value}.',
  endpointDescription: 'The description of an endpoint {value}.',
  requestsPerMinute: 'This account may send {limit} requests per minute. Try again in {resetSeconds} seconds.',
  tooOften: '{rule}. Try again in {seconds} seconds.',
  budget: {
    checksPerMinute: 'This account may ask WhatsApp for {calls} checks and changes per minute',
    templatesPerHour: 'This account may create {calls} templates per hour',
    testsPerMinute: 'This account may send {calls} tests to its chat and endpoints per minute',
    testsPerHour: 'This account may send {calls} tests to its chat and endpoints per hour',
    emailsPerMinute: 'You may test or change your alert emails {calls} times per minute',
    emailsPerHour: 'You may test or change your alert emails {calls} times per hour',
    exportsPerHour: 'You may export {calls} times per hour',
  },
})
