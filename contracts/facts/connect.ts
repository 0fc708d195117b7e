import { defineFacts } from './fact.ts'

/** What the steps that connect a phone number found, and what to do. */
export const connectFacts = defineFacts('connect', {
  newToken:
    'In Meta Business Suite, open Settings > Users > System users, create a new token for your app with the permissions whatsapp_business_messaging and whatsapp_business_management, and use it in place of this one.',
  permissions:
    'In Meta Business Suite, open Settings > Users > System users: assign the app and the WhatsApp account to the system user with full control, then create a token with the permissions whatsapp_business_messaging and whatsapp_business_management.',
  wait: 'Wait a few minutes, then repeat this step. Retrying sooner extends the wait.',
  requestReview: 'Open Business Support Home in Meta Business Suite, check the reason and request a review.',
  tokenRejected: 'WhatsApp rejects this access token: it is wrong, revoked or expired.',
  permissionMissing:
    'WhatsApp does not let this access token do that: a permission is missing, or the account is not assigned to its system user.',
  throttled: 'This account or app has reached WhatsApp’s limit of API calls.',
  unknownId: {
    message: 'WhatsApp does not know this ID, or does not show it to this access token.',
    fix: 'Check the ID in WhatsApp Manager, and that the WhatsApp account is assigned to the system user of the token.',
  },
  restricted: 'WhatsApp has restricted this business account for a policy violation.',
  callbackRejected: {
    message: 'Meta called the callback URL and did not get the expected answer.',
    fix: 'Check that the URL is reachable from the internet over https with a valid certificate, that the proxy in front of Waybill passes /webhooks/whatsapp on to it, and that META_VERIFY_TOKEN is the one with which Waybill was started. The operator of the server can check all three.',
  },
  locked: 'WhatsApp has locked this business account.',
  wrongPin: {
    message: "The PIN does not match the number's two-step verification PIN.",
    fix: 'Enter the PIN that was set for this number. If nobody knows it, change it in WhatsApp Manager: Phone numbers > the number > Two-step verification.',
  },
  verifyAgain: {
    message: 'WhatsApp wants the number to be verified again.',
    fix: 'In WhatsApp Manager, open Phone numbers and verify the number with a code by SMS or call. Then repeat this step.',
  },
  pinLocked: {
    message: 'Too many wrong PINs were tried: WhatsApp has locked the registration of this number.',
    fix: 'Wait for the time that WhatsApp names, or set a new PIN in WhatsApp Manager. Then repeat this step with the right PIN.',
  },
  pinsTooFast: 'PINs were tried too fast.',
  justDeleted: 'The number was deleted a moment ago and cannot be registered yet.',
  registeredTooOften: {
    message: 'The number was registered or deregistered too often: WhatsApp allows 10 attempts in 72 hours.',
    fix: 'Wait 72 hours before the next attempt. A number whose status is CONNECTED does not need to be registered again.',
  },
  unreachable: {
    message: 'WhatsApp could not be reached: {reason}.',
    fix: 'Check that this server can reach GRAPH_API_URL, then repeat this step.',
  },
  explained: '{explanation} {quote}',
  advised: '{message} {fix}',
  said: {
    message: 'WhatsApp said ({code}): {text}.',
    fix: 'Look up the code in the documentation of the WhatsApp Business Platform.',
  },
  wrongAppSecret: {
    message: 'The app secret does not match the app of this access token.',
    fix: 'Copy the app secret from the app dashboard of Meta (App settings > Basic), of the app that the token was created for, and replace the secrets of this account, or META_APP_SECRET.',
  },
  registered: 'The number is registered with the Cloud API. Keep its PIN: it is needed to register the number again.',
  onBusinessApp:
    'The number is also used in the WhatsApp Business app, which has registered it. Waybill does not register it, because that would disconnect the app on the phone.',
  replaceToken: 'Replace the token.',
  tokenUnreadable:
    'The access token of the WhatsApp account {whatsAppAccountId} cannot be decrypted with the configured keys. An operator must restore the key that encrypted it, or add the WhatsApp account again.',
  subscribed: 'The app is subscribed to the WhatsApp Business Account, so WhatsApp reports statuses.',
  appUnknown: {
    message: 'WhatsApp did not say to which app the token belongs, so Waybill cannot set the callback URL for you.',
    fix: 'Repeat this step in some minutes.',
  },
  callbackSet: 'Meta called {url}, accepted the answer, and now sends callbacks there.',
  orByHand:
    '{fix} Or enter these values in the app dashboard of Meta (developers.facebook.com/apps > your app > WhatsApp > Configuration) and subscribe to the fields.',
  verifyTokenMissing: {
    message: 'META_VERIFY_TOKEN is not set, so Waybill rejects the check that Meta makes of a callback URL.',
    fix: 'Ask the operator of this server to set META_VERIFY_TOKEN in its environment to a random text, such as the output of “openssl rand -hex 16”, and to restart it.',
  },
  publicUrlMissing: {
    message: 'WAYBILL_PUBLIC_URL is not an https address, so Waybill cannot set the callback URL for you.',
    fix: 'Ask the operator of this server to set WAYBILL_PUBLIC_URL in its environment to the https address at which the internet reaches it, and to restart it.',
  },
  appSecretMissing: {
    message:
      'Waybill does not have the app secret, so Waybill cannot set the callback URL for you, and rejects every callback.',
    fix: 'Copy it from Meta’s app dashboard (App settings > Basic) and replace the secrets of this account. Or ask the operator of this server to set META_APP_SECRET for all accounts, and to restart it.',
  },
  appSecretUnreadable: {
    message:
      'The app secret of this account cannot be decrypted with the configured keys, so Waybill cannot set the callback URL for you, and rejects every callback.',
    fix: 'Copy it from Meta’s app dashboard (App settings > Basic) and replace the secrets of this account.',
  },
  refresh: {
    numberUnusable: 'The new token cannot use the number. {problem}',
    invalid: 'Meta issued a new token but reports it as invalid.',
    permissionLost: 'The new token lacks the permission {permissions}.',
    notLater: 'The new token does not expire later than the old one.',
  },
  token: {
    valid: 'The token is valid. {expiry}',
    validForApp: 'The token is valid and belongs to the app “{appName}”. {expiry}',
    noExpiry: 'It does not expire.',
    unknownExpiry: 'WhatsApp did not say when it expires.',
    expiry: 'It expires {when} ({date}). Use a token that never expires for a server.',
    lacksPermission: '{message} It lacks the permission {permissions}.',
    permissionFix:
      'Create a new token for the system user with the permissions whatsapp_business_messaging and whatsapp_business_management.',
    noNumber: {
      message: '{message} It has no access to a phone number.',
      fix: 'In Meta Business Suite, open Settings > Accounts > WhatsApp accounts and assign the account to the system user of the token with full control. The account needs a phone number: add one in WhatsApp Manager.',
    },
    invalid: 'WhatsApp says that this token is not valid',
    invalidBecause: 'WhatsApp says that this token is not valid: {reason}',
    newToken: 'Create a new token for the system user in Meta Business Suite.',
  },
})
