import type { FailureAdvice } from '../../contracts/dashboard/message.ts'

const recipientDoesNotWant: FailureAdvice = {
  meaning: 'WhatsApp withheld this marketing message from the recipient.',
  advice: 'Do not retry soon, because quick retries fail too. Wait a day, or use a utility template.',
}
const tokenRefused: FailureAdvice = {
  meaning: 'WhatsApp rejected the access token.',
  advice: 'Create a new token in Meta Business Suite and replace it on the WhatsApp accounts page.',
}
const permissionMissing: FailureAdvice = {
  meaning: 'The access token lacks a permission that is required for sending.',
  advice:
    'Give its system user access to the WhatsApp account and the permission whatsapp_business_messaging, then test the token.',
}
const accountRestricted: FailureAdvice = {
  meaning: 'WhatsApp has restricted or locked this business account.',
  advice: 'Check the reason in Meta Business Support and request a review. Nothing can be sent until then.',
}
const tooFast: FailureAdvice = {
  meaning: 'WhatsApp temporarily accepted no more messages.',
  advice: 'Send more slowly, and retry this message in a few minutes.',
}
const whatsappDown: FailureAdvice = {
  meaning: 'WhatsApp had an internal error.',
  advice: 'Send the message again. If the problem persists, check metastatus.com.',
}
const templateDiffers: FailureAdvice = {
  meaning: "The variables do not match WhatsApp's version of the template.",
  advice: 'Sync the templates and check which variables this one requires.',
}
const notRegistered: FailureAdvice = {
  meaning: 'The sending number is not set up with WhatsApp.',
  advice: 'Check the registration, display name and billing of the number in WhatsApp Manager.',
}
const invalidParameter: FailureAdvice = {
  meaning: 'WhatsApp rejected a value of the request.',
  advice: 'Check the values of the variables, and sync the templates in case the template has changed.',
}
const wrongMarketingApi: FailureAdvice = {
  meaning: 'WhatsApp does not accept this template on the endpoint for marketing messages.',
  advice: 'Waybill reads its category again. Send the message again in a minute.',
}

const mediaUnusable: FailureAdvice = {
  meaning: 'WhatsApp could not use the file in the header of the message.',
  advice:
    'Check that its link opens without signing in and without a redirect, or upload the file and send its mediaId.',
}

/** WhatsApp's message says why it could not use a file; there is no code for it (reference 2, section 1.1). */
const mediaCauses: readonly (readonly [RegExp, FailureAdvice])[] = [
  [
    /http code 40[13]\b/i,
    {
      meaning: 'The server of the link rejected the download by WhatsApp.',
      advice:
        'Make the link public, because WhatsApp downloads it without signing in, or upload the file and send its mediaId.',
    },
  ],
  [
    /http code (?:404|410)\b/i,
    {
      meaning: 'There is no file behind the link.',
      advice:
        'Check the link, which must exist until the message is delivered, or upload the file and send its mediaId.',
    },
  ],
  [
    /http code|downloading media|weblink/i,
    {
      meaning: 'WhatsApp could not download the file from its link.',
      advice:
        'Check that the server of the link is reachable from the internet and answers quickly, or upload the file and send its mediaId.',
    },
  ],
  [
    /processing it is of type/i,
    {
      meaning: 'The content of the file does not match its declared type.',
      advice:
        'Let the server of the link send the right Content-Type, or upload the file with media.upload, which determines the type from the content.',
    },
  ],
]

const mediaCodes: ReadonlySet<string> = new Set(['131052', '131053'])

/** Explanations by WhatsApp's error code (reference, section 2.2), or by our own code if WhatsApp gave none. */
const advices: Readonly<Record<string, FailureAdvice>> = {
  0: tokenRefused,
  104: tokenRefused,
  190: tokenRefused,
  3: permissionMissing,
  10: permissionMissing,
  200: permissionMissing,
  131005: permissionMissing,
  368: accountRestricted,
  131031: accountRestricted,
  4: tooFast,
  17: tooFast,
  32: tooFast,
  341: tooFast,
  429: tooFast,
  613: tooFast,
  80007: tooFast,
  80008: tooFast,
  130429: tooFast,
  131056: {
    meaning: 'Too many messages went to this recipient in a short time.',
    advice:
      'WhatsApp accepts about one message every six seconds to the same recipient. Wait a little, then send again.',
  },
  131048: {
    meaning: 'Too many earlier messages from this number were blocked or reported as spam.',
    advice: 'Stop sending for some hours, and only message people who opted in. Retries make it worse.',
  },
  131064: {
    meaning: 'WhatsApp limits this account because templates were filed under the wrong category.',
    advice: 'Wait until the limit is lifted, and check the category of your templates in WhatsApp Manager.',
  },
  1: whatsappDown,
  2: whatsappDown,
  131000: whatsappDown,
  131016: whatsappDown,
  133004: whatsappDown,
  131057: whatsappDown,
  2494100: whatsappDown,
  33: notRegistered,
  131037: notRegistered,
  131045: notRegistered,
  133010: notRegistered,
  131042: {
    meaning: 'There is a problem with the payment method of the WhatsApp account.',
    advice: 'Check the billing of the WhatsApp account in Meta Business Suite, then send again.',
  },
  131026: {
    meaning: 'The message cannot reach this recipient.',
    advice:
      "The recipient may not use WhatsApp on this number, may have an outdated version, or may not have accepted WhatsApp's terms. Check the number, or contact them another way.",
  },
  131021: {
    meaning: 'The recipient is the sending number.',
    advice: 'Send to another number.',
  },
  131030: {
    meaning: 'A test number can only send to recipients on its list.',
    advice: 'Add the recipient to the list in the Meta app dashboard, or send from a real number.',
  },
  131047: {
    meaning: 'WhatsApp treats this as a message outside the 24 hours after the recipient last wrote.',
    advice: 'Send an approved template in the right category.',
  },
  130403: {
    meaning: 'The recipient is blocked by this business.',
    advice: 'To message them again, unblock them in WhatsApp Manager.',
  },
  130472: {
    meaning: 'WhatsApp withholds marketing messages from this recipient as part of an experiment by Meta.',
    advice: 'Sending again does not help. Contact them another way.',
  },
  130497: {
    meaning: 'This business may not message users in that country.',
    advice: "Check WhatsApp's messaging policy for the recipient's country.",
  },
  131049: recipientDoesNotWant,
  131050: {
    meaning: 'The recipient has opted out of marketing messages from this business.',
    advice: 'Remove them from your marketing lists.',
  },
  131062: {
    meaning: 'This kind of message cannot be sent to this kind of recipient.',
    advice: "Send to the recipient's phone number.",
  },
  131061: {
    meaning: 'A template with a maximum price can only be sent by the Marketing Messages API.',
    advice: 'Set the marketing endpoint of the WhatsApp account to automatic, and accept the terms of this API.',
  },
  131063: {
    meaning: 'Marketing templates are switched off for the Cloud API of this business account.',
    advice:
      'Accept the terms of the Marketing Messages API in WhatsApp Manager, or allow marketing templates on the Cloud API again.',
  },
  131065: {
    meaning: "A maximum price is not available in the recipient's country.",
    advice: 'Send a template without a maximum price.',
  },
  131052: mediaUnusable,
  131053: mediaUnusable,
  132000: templateDiffers,
  132012: templateDiffers,
  132018: templateDiffers,
  131008: templateDiffers,
  132001: {
    meaning: 'WhatsApp has no approved template with this name and language.',
    advice: 'Sync the templates, and check the name and language in the request.',
  },
  132005: {
    meaning: 'The text is too long with the variables filled in.',
    advice: 'Use shorter values for the variables.',
  },
  132007: {
    meaning: 'The content violates a WhatsApp policy.',
    advice: 'Change the values of the variables or the template.',
  },
  132015: {
    meaning: 'WhatsApp has paused this template because of low quality.',
    advice:
      'Wait until it is active again, or send another template. Improve its text before sending to many recipients.',
  },
  132016: {
    meaning: 'WhatsApp has permanently disabled this template.',
    advice: 'Create a new template with a different text.',
  },
  132068: {
    meaning: 'WhatsApp has blocked the Flow that this template opens.',
    advice: 'Fix the Flow in WhatsApp Manager, or send another template.',
  },
  132069: {
    meaning: 'WhatsApp temporarily limits the Flow that this template opens.',
    advice: 'Wait an hour, and check the health of the Flow in WhatsApp Manager.',
  },
  134011: {
    meaning: 'The terms of WhatsApp Payments have not been accepted.',
    advice: 'Accept them in WhatsApp Manager.',
  },
  100: invalidParameter,
  131009: invalidParameter,
  131051: invalidParameter,
  135000: invalidParameter,
  803: {
    meaning: 'WhatsApp does not know the phone number ID of the sending account.',
    advice: 'Compare the phone number ID with the one in the Meta app dashboard.',
  },
  137000: {
    meaning: "The recipient's identity has changed since it was last confirmed.",
    advice: 'Confirm the identity of the recipient, or disable the identity check of the number.',
  },
  131055: wrongMarketingApi,
  134100: wrongMarketingApi,
  134101: {
    meaning: 'WhatsApp is still preparing this template for marketing messages.',
    advice: 'Send the message again in ten minutes.',
  },
  134102: {
    meaning: 'WhatsApp cannot send this template as a marketing message at the moment.',
    advice:
      'Check in the health of the WhatsApp account that it is onboarded to the Marketing Messages API, then send the message again.',
  },
  WHATSAPP_UNAVAILABLE: {
    meaning: 'WhatsApp could not be reached or did not respond properly. Nothing was sent.',
    advice: 'Send the message again. If the problem persists, check metastatus.com or ask your Waybill administrator.',
  },
  SERVICE_UNAVAILABLE: {
    meaning: 'The database became unavailable before the message was sent. Nothing was sent.',
    advice: 'Send the message again. If the problem persists, ask your Waybill administrator.',
  },
}

/** The codes of WhatsApp that have an explanation, in ascending order. */
export const explainedCodes: readonly number[] = Object.keys(advices)
  .map(Number)
  .filter((code) => !Number.isNaN(code))
  .toSorted((a, b) => a - b)

/** WhatsApp's message followed by the advice for its code, if there is one. */
export function explainFailure(code: string, message: string): string {
  const sentence = message === '' || /[.!?]$/.test(message) ? message : `${message}.`
  return [sentence, findAdvice(code, message)?.advice].filter(Boolean).join(' ')
}

function findAdvice(code: string, message: string): FailureAdvice | undefined {
  const cause = mediaCodes.has(code) ? mediaCauses.find(([pattern]) => pattern.test(message)) : undefined
  return cause?.[1] ?? advices[code]
}

/** Unknown codes keep WhatsApp's message. */
export function adviseOnFailure({ code, message }: { code: string; message: string }): FailureAdvice {
  return (
    findAdvice(code, message) ?? {
      meaning: message === '' ? `WhatsApp returned error code ${code}.` : message,
      advice: 'Look up the code in the WhatsApp Cloud API documentation, or ask your Waybill administrator.',
    }
  )
}
