import type { FailureAdvice } from '../../contracts/dashboard/message.ts'

const recipientDoesNotWant: FailureAdvice = {
  meaning: 'WhatsApp withheld this marketing message from the recipient.',
  advice: 'Do not send it again at once: each quick retry fails too. Wait a day, or use a utility template.',
}
const tokenRefused: FailureAdvice = {
  meaning: 'WhatsApp refused the access token.',
  advice: 'Make a new token in Meta Business Suite, and replace it on the page WhatsApp accounts.',
}
const permissionMissing: FailureAdvice = {
  meaning: 'The access token lacks a permission that sending needs.',
  advice:
    'Give its system user the WhatsApp account and the permission whatsapp_business_messaging, then test the token.',
}
const accountRestricted: FailureAdvice = {
  meaning: 'WhatsApp has restricted or locked this business account.',
  advice: 'Open Meta Business Support for the reason and to ask for a review. Nothing can be sent until then.',
}
const tooFast: FailureAdvice = {
  meaning: 'WhatsApp took no more messages for the moment.',
  advice: 'Send more slowly, and try this message again in a few minutes.',
}
const whatsappDown: FailureAdvice = {
  meaning: 'WhatsApp had a fault on its side.',
  advice: 'Send the message again. If it goes on, look at metastatus.com.',
}
const templateDiffers: FailureAdvice = {
  meaning: 'The variables do not fit the template that WhatsApp has.',
  advice: 'Sync the templates, and look at the variables that this one needs.',
}
const notRegistered: FailureAdvice = {
  meaning: 'The number that sends is not set up with WhatsApp.',
  advice: 'Look at the number in WhatsApp Manager: its registration, its display name and its billing.',
}

/** In plain words, by WhatsApp's code (reference, section 2.2), or by ours where it gave none. */
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
  613: tooFast,
  80007: tooFast,
  130429: tooFast,
  131056: {
    meaning: 'Too many messages went to this recipient in a short time.',
    advice: 'WhatsApp takes about one message in six seconds to one recipient. Wait a little, then send again.',
  },
  131048: {
    meaning: 'Too many earlier messages of this number were blocked or reported as spam.',
    advice: 'Stop sending for some hours, and send only to those who asked for it: retries make it worse.',
  },
  131064: {
    meaning: 'WhatsApp limits this account, since templates were filed under the wrong category.',
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
      'They may have no WhatsApp on this number, an old version, or terms that they have not accepted. Check the number, and reach them another way.',
  },
  131021: {
    meaning: 'The recipient is the number that sends.',
    advice: 'Send to another number.',
  },
  131030: {
    meaning: 'A test number sends only to recipients on its list.',
    advice: 'Add the recipient to the list in the Meta app dashboard, or send from a real number.',
  },
  131047: {
    meaning: 'WhatsApp counts this as a message outside the 24 hours since the recipient last wrote.',
    advice: 'Send an approved template, in the category that fits.',
  },
  130403: {
    meaning: 'The recipient is blocked by this business.',
    advice: 'Unblock them in WhatsApp Manager if they are to get messages.',
  },
  130472: {
    meaning: 'WhatsApp keeps marketing messages from this recipient as part of an experiment.',
    advice: 'Sending again does not help. Reach them another way.',
  },
  130497: {
    meaning: 'This business may not message people in that country.',
    advice: 'Look at the messaging policy of WhatsApp for the country of the recipient.',
  },
  131049: recipientDoesNotWant,
  131050: {
    meaning: 'The recipient has opted out of marketing messages from this business.',
    advice: 'Respect it: take them off your marketing lists.',
  },
  131062: {
    meaning: 'This kind of message cannot be sent to this kind of recipient.',
    advice: 'Send to the telephone number of the recipient.',
  },
  131063: {
    meaning: 'Marketing templates cannot be sent through the Cloud API of this account.',
    advice: 'Look at the marketing settings of the account in WhatsApp Manager.',
  },
  131053: {
    meaning: 'WhatsApp could not fetch the media of the message.',
    advice: 'Check that the media of the template can be reached, and send again.',
  },
  132000: templateDiffers,
  132012: templateDiffers,
  132018: templateDiffers,
  131008: templateDiffers,
  132001: {
    meaning: 'WhatsApp has no approved template of this name in this language.',
    advice: 'Sync the templates, and check the name and the language of the request.',
  },
  132005: {
    meaning: 'The text became too long once the variables were filled in.',
    advice: 'Use shorter values for the variables.',
  },
  132007: {
    meaning: 'The content goes against a policy of WhatsApp.',
    advice: 'Change the values of the variables, or the template.',
  },
  132015: {
    meaning: 'WhatsApp has paused this template for its low quality.',
    advice: 'Wait until it is active again, or send another template. Improve its text before you send many.',
  },
  132016: {
    meaning: 'WhatsApp has disabled this template for good.',
    advice: 'Create a new template with another text.',
  },
  134011: {
    meaning: 'Terms of WhatsApp Payments have not been accepted.',
    advice: 'Accept them in WhatsApp Manager.',
  },
  WHATSAPP_UNAVAILABLE: {
    meaning: 'WhatsApp could not be reached, or gave no usable answer. Nothing was sent.',
    advice: 'Send the message again. If it goes on, look at metastatus.com, or ask whoever runs this server.',
  },
  SERVICE_UNAVAILABLE: {
    meaning: 'This server lost its database before the message was sent. Nothing was sent.',
    advice: 'Send the message again. If it goes on, ask whoever runs this server.',
  },
}

/** Codes that are new to us keep the words that came with them. */
export function adviseOnFailure({ code, message }: { code: string; message: string }): FailureAdvice {
  return (
    advices[code] ?? {
      meaning: message === '' ? `WhatsApp answered with the code ${code}.` : message,
      advice: 'Look the code up in the error codes of the WhatsApp Cloud API, or ask whoever runs this server.',
    }
  )
}
