/** The text of a template for one-time codes, which WhatsApp provides in the template's language. */
export interface CodeTexts {
  /** With the code as `{{1}}`. */
  body: string
  /** Follows the body of a template with `addSecurityRecommendation`. */
  security: string
  footer: (minutes: number) => string
  /** Label of the button that copies the code. */
  copy: string
  /** Label of the button that fills in the code. */
  autofill: string
}

const english: CodeTexts = {
  body: '*{{1}}* is your verification code.',
  security: 'For your security, do not share this code.',
  footer: (minutes) => `This code expires in ${minutes} minutes.`,
  copy: 'Copy code',
  autofill: 'Autofill',
}

const texts: Partial<Record<string, CodeTexts>> = {
  es: {
    body: 'Tu código de verificación es *{{1}}*.',
    security: 'Por tu seguridad, no lo compartas.',
    footer: (minutes) => `Este código caduca en ${minutes} minutos.`,
    copy: 'Copiar código',
    autofill: 'Autocompletar',
  },
  pt: {
    body: 'Seu código de verificação é *{{1}}*.',
    security: 'Para sua segurança, não o compartilhe.',
    footer: (minutes) => `Este código expira em ${minutes} minutos.`,
    copy: 'Copiar código',
    autofill: 'Preencher automaticamente',
  },
  de: {
    body: '*{{1}}* ist dein Verifizierungscode.',
    security: 'Zu deiner Sicherheit solltest du diesen Code nicht teilen.',
    footer: (minutes) => `Dieser Code läuft in ${minutes} Minuten ab.`,
    copy: 'Code kopieren',
    autofill: 'Automatisch ausfüllen',
  },
  fr: {
    body: 'Votre code de vérification est *{{1}}*.',
    security: 'Pour votre sécurité, ne le partagez pas.',
    footer: (minutes) => `Ce code expire dans ${minutes} minutes.`,
    copy: 'Copier le code',
    autofill: 'Remplir automatiquement',
  },
}

/** Approximates WhatsApp's text, for the simulator and for previews; in English for languages without a text here. */
export function codeTexts(language: string): CodeTexts {
  return texts[language.slice(0, 2)] ?? english
}
