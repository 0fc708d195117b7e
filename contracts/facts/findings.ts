import { defineFacts } from './fact.ts'

/** Problems of WhatsApp accounts, and why a step of their setup failed, with what to do. */
export const findings = defineFacts('finding', {
  deactivated: {
    message: 'A user deactivated this WhatsApp account.',
    fix: 'Activate it to send from it again.',
  },
  disabled: '{reason}.',
  connectAndActivate: 'Connect the number to your business account again, then activate this WhatsApp account.',
  rejected: 'WhatsApp rejected this account: {reason}.',
  error: 'error {code}',
  errorText: '{text} (error {code})',
  tokenRejected: 'WhatsApp rejects the access token: {reason}.',
  permissionRejected:
    'The access token lacks a permission, or the account is not assigned to its system user: {reason}.',
  replaceToken:
    'Create a new token for the system user in Meta Business Suite, and replace it on the WhatsApp accounts page, or with: {command}',
  tokenInvalid: 'WhatsApp says that the access token is not valid.',
  tokenExpired: 'The access token has expired.',
  permissionMissing: 'The access token lacks the permission {permissions}.',
  tokenExpiring: 'The access token expires {when}.',
  tokenNotRefreshed: 'The access token expires {when}, and could not be refreshed. {problem}',
  inDays: {
    none: 'in less than a day',
    one: 'in 1 day',
    several: 'in {days} days',
  },
  notRegistered: {
    message: 'The number is not registered with the Cloud API.',
    fix: 'Register it with its two-step verification PIN, in the setup of this WhatsApp account, or with: {command}',
  },
  notLinked: {
    message: 'WhatsApp reports the number as not connected. It is also used in the WhatsApp Business app.',
    fix: 'Connect it to your business account again in the WhatsApp Business app. Do not register it: that would disconnect the app on the phone.',
  },
  flagged: {
    message: 'WhatsApp has flagged the number for low quality.',
    fix: 'Send fewer messages that users block or report. If the quality stays low, WhatsApp lowers the limit.',
  },
  rateLimited: {
    message: 'The number has reached its messaging limit.',
    fix: 'Wait until the 24-hour window has moved on, or raise the limit in WhatsApp Manager.',
  },
  restricted: 'WhatsApp has restricted the number.',
  banned: 'WhatsApp has banned the number.',
  migrated: 'The number was moved to another WhatsApp Business Account.',
  deleted: 'The number was deleted.',
  connectAgain: 'Check it in WhatsApp Manager, and connect it again.',
  qualityLow: {
    message: 'The quality rating of the number is low (red).',
    fix: 'Message only people who opted in, and make it easy to opt out. Check which templates were blocked in WhatsApp Manager.',
  },
  nameDeclined: {
    message: 'WhatsApp has not approved the display name of the number ({status}).',
    fix: 'Edit the display name in WhatsApp Manager, and register the number again once it is approved.',
    fixOnBusinessApp:
      'Edit the display name in WhatsApp Manager. Do not register the number again: that would disconnect the WhatsApp Business app.',
  },
  entity: {
    phoneNumber: 'the phone number',
    waba: 'the WhatsApp Business Account',
    business: 'the business portfolio',
    app: 'the app',
  },
  sending: {
    blocked: 'WhatsApp blocks sending because of {entity}: {reason}.',
    limited: 'WhatsApp limits sending because of {entity}: {reason}.',
    noReason: 'WhatsApp gave no reason',
    fix: 'Open WhatsApp Manager, and follow what it says about this account.',
  },
  appSecretMissing: {
    message: 'The secret of the app is not known, so Waybill rejects every callback and no status arrives.',
    fix: 'Copy the app secret from the app dashboard of Meta (App settings > Basic), and replace the secrets of this account, or set META_APP_SECRET.',
  },
  notSubscribed: 'The app is not subscribed to the WhatsApp Business Account, so no status arrives.',
  subscriptionFailed: 'The app is not subscribed to the WhatsApp Business Account, so no status arrives. {problem}',
  subscribe: 'Open the setup of this WhatsApp account and select Subscribe.',
  setCallback: 'Open the setup of this WhatsApp account and select Set callback URL.',
  callbackProblem: 'There is a problem with the callback URL. {problem}',
  callbackMissing: 'The app has no callback URL, so no status arrives.',
  callbackElsewhere: 'WhatsApp sends the callbacks of the app to {callbackUrl}, and not to {expectedCallbackUrl}.',
  callbackOverridden: {
    elsewhere:
      'The callback URL of this number or its business account is overridden at Meta: statuses and replies go to {callbackUrl}, and not to {expectedCallbackUrl}.',
    remove:
      'Remove the override at Meta. If another system needs the callbacks too, subscribe a Meta app of its own to the business account.',
    othersElsewhere:
      'The callback URL of this number or its business account is overridden at Meta: only statuses and replies arrive here. Reports about templates, accounts and marketing preferences go to {callbackUrl}.',
    useOwnApp:
      'To receive all of them, connect the number with a Meta app whose callback URL is the one of this server.',
  },
  messagesFieldMissing: 'The app is not subscribed to the field messages, so no status arrives.',
  fieldsMissing: 'The app is not subscribed to all fields that Waybill reads: {fields}.',
  graphVersion: {
    ending: 'The version {version} of the Graph API, which this server uses, ends on {date}.',
    ended:
      'The version {version} of the Graph API, which this server uses, ended on {date}. WhatsApp serves requests with another version.',
    fix: 'Let the operator of this server update Waybill, and set GRAPH_API_VERSION to {version} or remove it.',
  },
  failuresFrequent: {
    message: '{failed} of {total} messages of the last hour failed, most often with code {code}.',
    fix: 'Open the failed messages in the dashboard: each one says what its code means and what to do.',
  },
  noStatuses: {
    message: 'WhatsApp accepted messages more than five minutes ago, and no status has arrived since.',
    fix: 'Check the callback URL of the app and the subscription in the setup of this WhatsApp account.',
  },
  messagesMissing: {
    message:
      'WhatsApp reported statuses of messages that the database does not have: {statuses} statuses of messages sent from {from} to {until}.',
    fix: 'If the database was restored or failed over, it lost these messages: they were sent, so do not send them again. Otherwise, another installation of Waybill sends from this number.',
  },
  messagingLimit: {
    near: 'The numbers of this business portfolio addressed {people} people in the last 24 hours. WhatsApp allows {limit}.',
    reached:
      'The numbers of this business portfolio addressed {people} people in the last 24 hours. WhatsApp allows {limit}, and may not deliver messages to more people.',
    atLeast: 'at least {people}',
    spread: 'Message more people later, or raise the limit in WhatsApp Manager.',
    wait: 'Wait until fewer people were addressed in 24 hours, or raise the limit in WhatsApp Manager. Messages to people who wrote to you in the last 24 hours are still delivered.',
  },
  paymentMissing: {
    message:
      'WhatsApp names no payment method of this business account, and no partner who pays for it. It may not deliver messages that it charges for.',
    fix: 'Add a payment method to the business account in WhatsApp Manager. If a partner pays for your messages, ask the partner to share the credit line with the business account.',
  },
  conversationsElsewhere: {
    message:
      'Another app, or Meta Business Agent, answers conversations of this number. Waybill may get no statuses of messages in them.',
    fix: 'In Meta Business Suite, check which apps answer the conversations of this number.',
  },
  notices: {
    restricted: 'WhatsApp has restricted this account: {notices}.',
    warned: 'WhatsApp has warned this account: {notices}.',
    alerted: 'WhatsApp reported a problem with this account: {notices}.',
    wait: 'WhatsApp delivers no templates from this account until the restriction ends. Check the reason in Business Support Home in Meta Business Suite, and request a review if it is wrong.',
    sendOthers:
      'Other messages are still sent. Check the reason in Business Support Home in Meta Business Suite, and request a review if it is wrong.',
  },
  categoryChanging: {
    message: 'WhatsApp announced another category for {count} of your templates: {templates}.',
    keepCategory:
      'The page of each template shows what it would have cost. To keep the category, change the template before that day, or request a review in WhatsApp Manager.',
    createAgain:
      'WhatsApp rejects a template that belongs in AUTHENTICATION on that day. Create it again in that category, and send the new one.',
  },
  marketing: {
    rejected:
      'WhatsApp rejects every marketing template of this business account: the Cloud API is switched off for them, and the account is not onboarded to the Marketing Messages API ({status}).',
    notOnboarded:
      'This business account is not onboarded to the Marketing Messages API ({status}), so its marketing templates go through the Cloud API. WhatsApp is reported to reject them there from {date}; Meta has not confirmed the day.',
    askMeta: 'Ask Meta Business Support how this account can be onboarded to the Marketing Messages API.',
    acceptTerms:
      'Let an admin of the business portfolio accept the terms: in the app dashboard of Meta under WhatsApp > Quickstart > Improve ROI with marketing messages, or in WhatsApp Manager under Alerts. Waybill then changes the endpoint by itself.',
    addPayment: 'Add a valid payment method in WhatsApp Manager. WhatsApp then completes the onboarding.',
    wait: 'Wait: WhatsApp is completing the onboarding.',
    solveRestriction: 'Open WhatsApp Manager, and solve what restricts this account. It can be onboarded afterwards.',
  },
})

/** Why a WhatsApp account is inactive, besides what WhatsApp says. */
export const inactiveReasons = defineFacts('inactive', {
  byUser: 'deactivated by a user',
  disabled: 'WhatsApp disabled the business account ({event})',
  rejected: 'WhatsApp rejected it ({code}): {text}',
  displaced: 'another account verified ownership of the phone number',
  unknown: 'reason unknown',
})
