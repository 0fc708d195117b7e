/**
 * A reply counts as an opt-out only if all of it is one of these. Words with another everyday meaning, such as
 * `cancel`, `end` or `no`, are left out: they are also labels of buttons.
 */
export const optOutWords = {
  English: ['stop', 'unsubscribe', 'opt out', 'stop promotions'],
  German: ['stopp', 'abmelden'],
  Spanish: ['baja', 'darme de baja'],
  French: ['arrêt', 'arret', 'désabonner', 'desabonner'],
  Italian: ['disiscrivimi'],
  Portuguese: ['parar', 'sair', 'descadastrar'],
  Dutch: ['afmelden'],
} as const

export const optInWords = {
  English: ['start', 'unstop'],
  German: ['anmelden'],
  Spanish: ['alta'],
  Dutch: ['aanmelden'],
} as const
