import { defineFacts } from './fact.ts'

/** Why WhatsApp rejected a change to a template, and how to fix it. */
export const templateRefusals = defineFacts('templateRefusal', {
  limit: {
    message: 'The business account has reached its template limit.',
    fix: 'Delete templates that are no longer used, or verify the business to get a higher limit.',
  },
  deleting: {
    message: 'This language of the template is being deleted.',
    fix: 'Use another name, or wait until WhatsApp has deleted it, which can take 30 days.',
  },
  exists: {
    message: 'WhatsApp has a template of this name and language already.',
    fix: 'Update it, or choose another name.',
  },
  status: {
    message: 'The template cannot be changed in its present status.',
    fix: 'WhatsApp allows changes of templates that are APPROVED, REJECTED or PAUSED. Wait for the end of the review.',
  },
  length: { message: 'A text is longer than WhatsApp allows.', fix: 'Shorten it.' },
  surplusField: {
    message: 'A part of the template has a field that WhatsApp does not expect there.',
    fix: 'Remove the field that this kind of template does not support.',
  },
  missingField: {
    message: 'A part of the template lacks a required field.',
    fix: 'Add it: most often an example value.',
  },
  name: { message: 'WhatsApp does not accept the name.', fix: 'Use lower-case letters, digits and underscores only.' },
  header: {
    message: 'WhatsApp does not accept the header.',
    fix: 'Remove line breaks, emoji, formatting and surplus variables from its text, or choose another file for its image, video or document.',
  },
  body: {
    message: 'WhatsApp does not accept the body.',
    fix: 'Check its variables, its line breaks and its formatting.',
  },
  footer: { message: 'WhatsApp does not accept the footer.', fix: 'Remove variables, line breaks and emoji from it.' },
  sample: { message: 'The name belongs to a sample template of WhatsApp.', fix: 'Choose another name.' },
  variables: {
    message: 'The body has too many variables for its length.',
    fix: 'Add words around the variables, or use fewer of them.',
  },
  edges: {
    message: 'The text starts or ends with a variable.',
    fix: 'Put words before the first and after the last variable.',
  },
  blocked: {
    message: 'WhatsApp does not let this business account create templates.',
    fix: 'Check the account in WhatsApp Manager, or ask the support of Meta.',
  },
  phoneNumber: {
    message: 'A phone number of a button is not valid.',
    fix: 'Write it with its country code, such as +34600111222.',
  },
  content: { message: 'WhatsApp did not accept the template.', fix: 'Check it for content that its policies forbid.' },
  permission: {
    message: 'The access token may not change templates.',
    fix: 'Create a token with the permission whatsapp_business_management, and replace it under WhatsApp accounts.',
  },
  advised: '{message} {fix} {quoted}',
  rejected: 'WhatsApp rejected the change: {reason}.',
  quoting: 'WhatsApp rejected the change. {quoted}',
  quoted: 'WhatsApp said ({code}): {text}.',
})

/** Why no send can fill a template that WhatsApp approved. Reasons have no full stop. */
export const unsupportedTemplate = defineFacts('unsupportedTemplate', {
  cannotBeSent: '{template} ({language}) cannot be sent: {reason}.',
  headerFormat: 'it has a header of format {format}, which Waybill does not know',
  headerVariable: 'its header contains a variable that cannot be parsed',
  headerVariables: 'its header contains more than one variable',
  buttonParameter: 'its button of type {type} requires a parameter that Waybill does not know',
  component: 'it has a component of type {type}, which Waybill does not know',
})
