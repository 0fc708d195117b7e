import { defineFacts } from './fact.ts'

/** Why no send can fill a template that WhatsApp approved. Reasons have no full stop. */
export const unsupportedTemplate = defineFacts('unsupportedTemplate', {
  cannotBeSent: '{template} ({language}) cannot be sent: {reason}.',
  headerFormat: 'it has a header of format {format}, which Waybill does not know',
  headerVariable: 'its header contains a variable that cannot be parsed',
  headerVariables: 'its header contains more than one variable',
  buttonParameter: 'its button of type {type} requires a parameter that Waybill does not know',
  component: 'it has a component of type {type}, which Waybill does not know',
})
