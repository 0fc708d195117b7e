export const galleryLanguages = ['en', 'es', 'pt_BR', 'de', 'fr'] as const
export type GalleryLanguage = (typeof galleryLanguages)[number]

/** The texts of a gallery template in one language. */
export interface GalleryText {
  header?: string
  body: string
  footer?: string
  /** Labels of the buttons, in their order. */
  labels?: readonly string[]
}

/** The texts of the gallery templates. One-time codes have none, because WhatsApp provides their text. */
export const galleryTexts = {
  order_confirmed: {
    en: {
      body: 'Hello {{1}}, thank you for your order {{2}}. The total is {{3}}. We will let you know as soon as it ships.',
      labels: ['View order'],
    },
    es: {
      body: 'Hola {{1}}, gracias por tu pedido {{2}}. El total es de {{3}}. Te avisaremos en cuanto lo enviemos.',
      labels: ['Ver pedido'],
    },
    pt_BR: {
      body: 'Olá {{1}}, obrigado pelo seu pedido {{2}}. O total é de {{3}}. Avisaremos assim que ele for enviado.',
      labels: ['Ver pedido'],
    },
    de: {
      body: 'Hallo {{1}}, danke für Ihre Bestellung {{2}}. Der Gesamtbetrag ist {{3}}. Wir melden uns, sobald sie verschickt ist.',
      labels: ['Bestellung ansehen'],
    },
    fr: {
      body: 'Bonjour {{1}}, merci pour votre commande {{2}}. Le total est de {{3}}. Nous vous préviendrons dès son expédition.',
      labels: ['Voir la commande'],
    },
  },
  order_shipped: {
    en: {
      header: 'Order {{1}}',
      body: 'Hello {{1}}, your order is on its way. We expect it to arrive on {{2}}. Use the button below to follow it.',
      labels: ['Track my order'],
    },
    es: {
      header: 'Pedido {{1}}',
      body: 'Hola {{1}}, tu pedido está en camino. Esperamos que llegue el {{2}}. Usa el botón de abajo para seguirlo.',
      labels: ['Seguir mi pedido'],
    },
    pt_BR: {
      header: 'Pedido {{1}}',
      body: 'Olá {{1}}, seu pedido está a caminho. A previsão de chegada é {{2}}. Use o botão abaixo para acompanhá-lo.',
      labels: ['Acompanhar pedido'],
    },
    de: {
      header: 'Bestellung {{1}}',
      body: 'Hallo {{1}}, Ihre Bestellung ist unterwegs. Sie kommt voraussichtlich am {{2}} an. Über die Schaltfläche können Sie sie verfolgen.',
      labels: ['Sendung verfolgen'],
    },
    fr: {
      header: 'Commande {{1}}',
      body: 'Bonjour {{1}}, votre commande est en route. Elle devrait arriver le {{2}}. Utilisez le bouton ci-dessous pour la suivre.',
      labels: ['Suivre ma commande'],
    },
  },
  ready_for_pickup: {
    en: { body: 'Hello {{1}}, your order {{2}} is ready for pickup. We will keep it for you until {{3}}.' },
    es: { body: 'Hola {{1}}, tu pedido {{2}} está listo para recoger. Te lo guardamos hasta el {{3}}.' },
    pt_BR: { body: 'Olá {{1}}, seu pedido {{2}} está pronto para retirada. Nós o guardaremos até {{3}}.' },
    de: { body: 'Hallo {{1}}, Ihre Bestellung {{2}} liegt zur Abholung bereit. Wir bewahren sie bis zum {{3}} auf.' },
    fr: { body: 'Bonjour {{1}}, votre commande {{2}} est prête à être retirée. Nous la gardons jusqu’au {{3}}.' },
  },
  delivery_failed: {
    en: {
      body: 'Hello {{1}}, we could not deliver your order {{2}} today because nobody was at home. We will try again on {{3}}. Does that suit you?',
      labels: ['Yes, that works', 'Choose another day'],
    },
    es: {
      body: 'Hola {{1}}, hoy no pudimos entregar tu pedido {{2}} porque no había nadie en casa. Lo intentaremos de nuevo el {{3}}. ¿Te viene bien?',
      labels: ['Sí, me viene bien', 'Elegir otro día'],
    },
    pt_BR: {
      body: 'Olá {{1}}, não conseguimos entregar seu pedido {{2}} hoje porque não havia ninguém em casa. Tentaremos de novo em {{3}}. Pode ser?',
      labels: ['Sim, pode ser', 'Escolher outro dia'],
    },
    de: {
      body: 'Hallo {{1}}, wir konnten Ihre Bestellung {{2}} heute nicht zustellen, weil niemand zu Hause war. Wir versuchen es am {{3}} noch einmal. Passt Ihnen das?',
      labels: ['Ja, das passt', 'Anderen Tag wählen'],
    },
    fr: {
      body: 'Bonjour {{1}}, nous n’avons pas pu livrer votre commande {{2}} aujourd’hui car personne n’était présent. Nous repasserons le {{3}}. Cela vous convient-il ?',
      labels: ['Oui, cela convient', 'Choisir un autre jour'],
    },
  },
  appointment_reminder: {
    en: {
      body: 'Hello {{1}}, this is a reminder of your appointment on {{2}} at {{3}}. Please let us know if you can make it.',
      labels: ['Confirm', 'Reschedule'],
    },
    es: {
      body: 'Hola {{1}}, te recordamos tu cita del {{2}} a las {{3}}. Dinos si podrás venir.',
      labels: ['Confirmar', 'Cambiar la cita'],
    },
    pt_BR: {
      body: 'Olá {{1}}, lembramos você do seu horário em {{2}} às {{3}}. Avise se poderá comparecer.',
      labels: ['Confirmar', 'Remarcar'],
    },
    de: {
      body: 'Hallo {{1}}, wir erinnern Sie an Ihren Termin am {{2}} um {{3}} Uhr. Bitte sagen Sie uns, ob Sie kommen können.',
      labels: ['Bestätigen', 'Termin verschieben'],
    },
    fr: {
      body: 'Bonjour {{1}}, nous vous rappelons votre rendez-vous le {{2}} à {{3}}. Merci de nous dire si vous pourrez venir.',
      labels: ['Confirmer', 'Reporter'],
    },
  },
  invoice_available: {
    en: {
      body: 'Hello {{1}}, your invoice {{2}} for {{3}} is ready. It is due on {{4}}. You can read and pay it with the button below.',
      labels: ['Open invoice'],
    },
    es: {
      body: 'Hola {{1}}, tu factura {{2}} de {{3}} está lista. Vence el {{4}}. Puedes verla y pagarla con el botón de abajo.',
      labels: ['Abrir factura'],
    },
    pt_BR: {
      body: 'Olá {{1}}, sua fatura {{2}} no valor de {{3}} está pronta. O vencimento é {{4}}. Você pode ver e pagar com o botão abaixo.',
      labels: ['Abrir fatura'],
    },
    de: {
      body: 'Hallo {{1}}, Ihre Rechnung {{2}} über {{3}} liegt bereit. Sie ist am {{4}} fällig. Über die Schaltfläche können Sie sie ansehen und bezahlen.',
      labels: ['Rechnung öffnen'],
    },
    fr: {
      body: 'Bonjour {{1}}, votre facture {{2}} de {{3}} est disponible. Elle est à régler avant le {{4}}. Le bouton ci-dessous permet de la consulter et de la payer.',
      labels: ['Ouvrir la facture'],
    },
  },
  payment_failed: {
    en: {
      body: 'Hello {{1}}, your payment of {{2}} for the invoice {{3}} did not go through. Please check your payment method and try again.',
      labels: ['Pay now', 'Call us'],
    },
    es: {
      body: 'Hola {{1}}, no pudimos cobrar tu pago de {{2}} por la factura {{3}}. Revisa tu forma de pago e inténtalo de nuevo.',
      labels: ['Pagar ahora', 'Llámanos'],
    },
    pt_BR: {
      body: 'Olá {{1}}, seu pagamento de {{2}} da fatura {{3}} não foi aprovado. Confira a forma de pagamento e tente de novo.',
      labels: ['Pagar agora', 'Ligar para nós'],
    },
    de: {
      body: 'Hallo {{1}}, Ihre Zahlung von {{2}} für die Rechnung {{3}} ist fehlgeschlagen. Bitte prüfen Sie Ihre Zahlungsart und versuchen Sie es noch einmal.',
      labels: ['Jetzt bezahlen', 'Anrufen'],
    },
    fr: {
      body: 'Bonjour {{1}}, votre paiement de {{2}} pour la facture {{3}} a échoué. Vérifiez votre moyen de paiement et réessayez.',
      labels: ['Payer', 'Nous appeler'],
    },
  },
  password_reset: {
    en: {
      body: 'Hello {{1}}, you asked to reset the password of your account. The link works for {{2}} minutes. If it was not you, ignore this message.',
      labels: ['Reset password'],
    },
    es: {
      body: 'Hola {{1}}, pediste restablecer la contraseña de tu cuenta. El enlace funciona durante {{2}} minutos. Si no fuiste tú, ignora este mensaje.',
      labels: ['Cambiar contraseña'],
    },
    pt_BR: {
      body: 'Olá {{1}}, você pediu para redefinir a senha da sua conta. O link funciona por {{2}} minutos. Se não foi você, ignore esta mensagem.',
      labels: ['Redefinir senha'],
    },
    de: {
      body: 'Hallo {{1}}, Sie möchten das Passwort Ihres Kontos zurücksetzen. Der Link gilt {{2}} Minuten. Wenn Sie das nicht waren, ignorieren Sie diese Nachricht.',
      labels: ['Passwort zurücksetzen'],
    },
    fr: {
      body: 'Bonjour {{1}}, vous avez demandé à réinitialiser le mot de passe de votre compte. Le lien est valable {{2}} minutes. Si ce n’était pas vous, ignorez ce message.',
      labels: ['Changer mon mot de passe'],
    },
  },
} satisfies Record<string, Record<GalleryLanguage, GalleryText>>
