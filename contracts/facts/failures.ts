import { defineFacts } from './fact.ts'

/** Why a message failed, and what to do about it. */
export const failures = defineFacts('failure', {
  recipientDoesNotWant: {
    meaning: 'WhatsApp withheld this message, because the recipient gets many from businesses.',
    advice: 'Do not retry soon, because quick retries fail too. Wait a day.',
  },
  tokenRefused: {
    meaning: 'WhatsApp rejected the access token.',
    advice: 'Create a new token in Meta Business Suite and replace it on the WhatsApp accounts page.',
  },
  permissionMissing: {
    meaning: 'The access token lacks a permission that is required for sending.',
    advice:
      'Give its system user access to the WhatsApp account and the permission whatsapp_business_messaging, then test the token.',
  },
  accountRestricted: {
    meaning: 'WhatsApp has restricted or locked this business account.',
    advice: 'Check the reason in Meta Business Support and request a review. Nothing can be sent until then.',
  },
  tooFast: {
    meaning: 'WhatsApp temporarily accepted no more messages.',
    advice: 'Send more slowly, and retry this message in a few minutes.',
  },
  whatsappDown: {
    meaning: 'WhatsApp had an internal error.',
    advice: 'Send the message again. If the problem persists, check metastatus.com.',
  },
  templateDiffers: {
    meaning: "The variables do not match WhatsApp's version of the template.",
    advice: 'Sync the templates and check which variables this one requires.',
  },
  notRegistered: {
    meaning: 'The sending number is not set up with WhatsApp.',
    advice: 'Check the registration, display name and billing of the number in WhatsApp Manager.',
  },
  invalidParameter: {
    meaning: 'WhatsApp rejected a value of the request.',
    advice: 'Check the values of the variables, and sync the templates in case the template has changed.',
  },
  wrongMarketingApi: {
    meaning: 'WhatsApp does not accept this template on the endpoint for marketing messages.',
    advice: 'Waybill reads its category again. Send the message again in a minute.',
  },
  mediaUnusable: {
    meaning: 'WhatsApp could not use the file in the header of the message.',
    advice:
      'Check that its link opens without signing in and without a redirect, or upload the file and send its mediaId.',
  },
  linkRejected: {
    meaning: 'The server of the link rejected the download by WhatsApp.',
    advice:
      'Make the link public, because WhatsApp downloads it without signing in, or upload the file and send its mediaId.',
  },
  linkMissing: {
    meaning: 'There is no file behind the link.',
    advice: 'Check the link, which must exist until the message is delivered, or upload the file and send its mediaId.',
  },
  linkUnreachable: {
    meaning: 'WhatsApp could not download the file from its link.',
    advice:
      'Check that the server of the link is reachable from the internet and answers quickly, or upload the file and send its mediaId.',
  },
  fileTypeDiffers: {
    meaning: 'The content of the file does not match its declared type.',
    advice:
      'Let the server of the link send the right Content-Type, or upload the file with media.upload, which determines the type from the content.',
  },
  recipientTooOften: {
    meaning: 'Too many messages went to this recipient in a short time.',
    advice:
      'WhatsApp accepts about one message every six seconds to the same recipient. Wait a little, then send again.',
  },
  reportedAsSpam: {
    meaning: 'Too many earlier messages from this number were blocked or reported as spam.',
    advice: 'Stop sending for some hours, and only message people who opted in. Retries make it worse.',
  },
  wrongCategories: {
    meaning: 'WhatsApp limits this account because templates were filed under the wrong category.',
    advice: 'Wait until the limit is lifted, and check the category of your templates in WhatsApp Manager.',
  },
  payment: {
    meaning: 'There is a problem with the payment method of the WhatsApp account.',
    advice: 'Check the billing of the WhatsApp account in Meta Business Suite, then send again.',
  },
  undeliverable: {
    meaning: 'The message cannot reach this recipient.',
    advice:
      "The recipient may not use WhatsApp on this number, may have an outdated version, or may not have accepted WhatsApp's terms. Check the number, or contact them another way.",
  },
  toItself: {
    meaning: 'The recipient is the sending number.',
    advice: 'Send to another number.',
  },
  notOnTestList: {
    meaning: 'A test number can only send to recipients on its list.',
    advice: 'Add the recipient to the list in the Meta app dashboard, or send from a real number.',
  },
  outsideWindow: {
    meaning: 'WhatsApp treats this as a message outside the 24 hours after the recipient last wrote.',
    advice: 'Send an approved template in the right category.',
  },
  blockedByBusiness: {
    meaning: 'The recipient is blocked by this business.',
    advice: 'To message them again, unblock them in WhatsApp Manager.',
  },
  experiment: {
    meaning: 'WhatsApp withheld this message as part of an experiment by Meta with this recipient.',
    advice: 'Sending again does not help. Contact them another way.',
  },
  country: {
    meaning: 'This business may not message users in that country.',
    advice: "Check WhatsApp's messaging policy for the recipient's country.",
  },
  optedOut: {
    meaning: 'The recipient has opted out of marketing messages from this business.',
    advice: 'Remove them from your marketing lists.',
  },
  wrongRecipientType: {
    meaning: 'This kind of message cannot be sent to this kind of recipient.',
    advice: "Send to the recipient's phone number.",
  },
  maximumPrice: {
    meaning: 'A template with a maximum price can only be sent by the Marketing Messages API.',
    advice: 'Set the marketing endpoint of the WhatsApp account to automatic, and accept the terms of this API.',
  },
  marketingOffCloudApi: {
    meaning: 'Marketing templates are switched off for the Cloud API of this business account.',
    advice:
      'Accept the terms of the Marketing Messages API in WhatsApp Manager, or allow marketing templates on the Cloud API again.',
  },
  maximumPriceCountry: {
    meaning: "A maximum price is not available in the recipient's country.",
    advice: 'Send a template without a maximum price.',
  },
  templateUnknown: {
    meaning: 'WhatsApp has no approved template with this name and language.',
    advice: 'Sync the templates, and check the name and language in the request.',
  },
  textTooLong: {
    meaning: 'The text is too long with the variables filled in.',
    advice: 'Use shorter values for the variables.',
  },
  contentViolation: {
    meaning: 'The content violates a WhatsApp policy.',
    advice: 'Change the values of the variables or the template.',
  },
  templatePaused: {
    meaning: 'WhatsApp has paused this template because of low quality.',
    advice:
      'Wait until it is active again, or send another template. Improve its text before sending to many recipients.',
  },
  templateDisabled: {
    meaning: 'WhatsApp has permanently disabled this template.',
    advice: 'Create a new template with a different text.',
  },
  flowBlocked: {
    meaning: 'WhatsApp has blocked the Flow that this template opens.',
    advice: 'Fix the Flow in WhatsApp Manager, or send another template.',
  },
  flowThrottled: {
    meaning: 'WhatsApp temporarily limits the Flow that this template opens.',
    advice: 'Wait an hour, and check the health of the Flow in WhatsApp Manager.',
  },
  paymentsTerms: {
    meaning: 'The terms of WhatsApp Payments have not been accepted.',
    advice: 'Accept them in WhatsApp Manager.',
  },
  numberUnknown: {
    meaning: 'WhatsApp does not know the phone number ID of the sending account.',
    advice: 'Compare the phone number ID with the one in the Meta app dashboard.',
  },
  identityChanged: {
    meaning: "The recipient's identity has changed since it was last confirmed.",
    advice: 'Confirm the identity of the recipient, or disable the identity check of the number.',
  },
  templatePreparing: {
    meaning: 'WhatsApp is still preparing this template for marketing messages.',
    advice: 'Send the message again in ten minutes.',
  },
  marketingUnavailable: {
    meaning: 'WhatsApp cannot send this template as a marketing message at the moment.',
    advice:
      'Check in the health of the WhatsApp account that it is onboarded to the Marketing Messages API, then send the message again.',
  },
  whatsAppUnavailable: {
    meaning: 'WhatsApp could not be reached or did not respond properly. Nothing was sent.',
    advice: 'Send the message again. If the problem persists, check metastatus.com or ask your Waybill administrator.',
  },
  databaseUnavailable: {
    meaning: 'The database became unavailable before the message was sent. Nothing was sent.',
    advice: 'Send the message again. If the problem persists, ask your Waybill administrator.',
  },
  unknown: {
    meaning: 'WhatsApp returned error code {code}.',
    advice: 'Look up the code in the WhatsApp Cloud API documentation, or ask your Waybill administrator.',
  },
  noReason: 'WhatsApp gave no reason.',
})
