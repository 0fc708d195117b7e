import type { StoredComponent } from '../../../platform/db/schema.ts'

interface CodeTexts {
  body: string
  security: string
  footer: (minutes: number) => string
  button: string
}

const english: CodeTexts = {
  body: '*{{1}}* is your verification code.',
  security: 'For your security, do not share this code.',
  footer: (minutes) => `This code expires in ${minutes} minutes.`,
  button: 'Copy code',
}

/** WhatsApp generates the text of these templates in their language. */
const texts: Partial<Record<string, CodeTexts>> = {
  es: {
    body: 'Tu código de verificación es *{{1}}*.',
    security: 'Por tu seguridad, no lo compartas.',
    footer: (minutes) => `Este código caduca en ${minutes} minutos.`,
    button: 'Copiar código',
  },
  pt: {
    body: 'Seu código de verificação é *{{1}}*.',
    security: 'Para sua segurança, não o compartilhe.',
    footer: (minutes) => `Este código expira em ${minutes} minutos.`,
    button: 'Copiar código',
  },
  de: {
    body: '*{{1}}* ist dein Verifizierungscode.',
    security: 'Zu deiner Sicherheit solltest du diesen Code nicht teilen.',
    footer: (minutes) => `Dieser Code läuft in ${minutes} Minuten ab.`,
    button: 'Code kopieren',
  },
  fr: {
    body: 'Votre code de vérification est *{{1}}*.',
    security: 'Pour votre sécurité, ne le partagez pas.',
    footer: (minutes) => `Ce code expire dans ${minutes} minutes.`,
    button: 'Copier le code',
  },
}

/** Returns the components of a one-time code as WhatsApp lists them (reference 2, section 2). */
export function listCodeComponents(language: string, components: StoredComponent[]): StoredComponent[] {
  const { body, security, footer, button } = texts[language.slice(0, 2)] ?? english
  const find = (type: string) => components.find((component) => component.type === type)
  const isSecure = find('BODY')?.['add_security_recommendation'] === true
  const minutes = find('FOOTER')?.['code_expiration_minutes']
  const sent = find('BUTTONS')?.buttons?.[0]
  const query = [
    `otp_type=${String(sent?.['otp_type'])}`,
    ...(typeof minutes === 'number' ? [`code_expiration_minutes=${minutes}`] : []),
  ].join('&')
  const url = `https://www.whatsapp.com/otp/code/?${query}&code=otp`
  return [
    {
      type: 'BODY',
      text: isSecure ? `${body} ${security}` : body,
      add_security_recommendation: isSecure,
      example: { body_text: [['123456']] },
    },
    ...(typeof minutes === 'number'
      ? [{ type: 'FOOTER', text: footer(minutes), code_expiration_minutes: minutes }]
      : []),
    {
      type: 'BUTTONS',
      buttons: [{ type: 'URL', text: sent?.text ?? button, url: `${url}{{1}}`, example: [`${url}123456`] }],
    },
  ]
}
