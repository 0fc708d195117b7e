interface Entry {
  slug: string
  /** Path in `docs/`; undefined for a generated page. */
  file?: string
  summary: string
  /** What readers also call its subject, in English and Spanish, for the searches of the guides and of the dashboard. */
  keywords?: string
}

interface Group {
  title: string
  /** Collapsed until a reader expands it or opens one of its pages. */
  collapsed?: true
  pages: readonly Entry[]
}

/** The interactive API reference, which is listed among the guides in the navigation. */
export const referenceSlug = 'api'

/** The documentation pages, in navigation order. Pages for contributors are in the repository only. */
export const contents: readonly Group[] = [
  {
    title: 'Get started',
    pages: [
      { slug: '', file: 'guides/index.md', summary: 'Send a WhatsApp template message with one HTTP call.' },
      { slug: 'quick-start', file: 'guides/quick-start.md', summary: 'Run the sandbox on your machine.' },
      {
        slug: 'sending',
        file: 'guides/sending.md',
        summary: 'Send a message or many (batch, bulk), read statuses and handle errors.',
      },
      {
        slug: 'evaluate',
        file: 'guides/evaluate.md',
        summary: 'What Waybill is and is not, what it costs to run, its limits, status, licence and GDPR.',
      },
    ],
  },
  {
    title: 'Account owners',
    pages: [
      { slug: 'dashboard', file: 'guides/dashboard.md', summary: 'Manage keys, numbers, templates and webhooks.' },
      {
        slug: 'going-live',
        file: 'guides/going-live.md',
        summary: "From Meta's console to the first message from your number.",
      },
      { slug: 'connecting-whatsapp', file: 'guides/connecting-whatsapp.md', summary: 'Add a WhatsApp number.' },
    ],
  },
  {
    title: 'Guides',
    pages: [
      {
        slug: 'templates',
        file: 'guides/templates.md',
        summary: 'Find templates, fill placeholders and preview the text.',
      },
      { slug: 'media', file: 'guides/media.md', summary: 'Upload images, videos and documents for headers.' },
      {
        slug: 'creating-templates',
        file: 'guides/creating-templates.md',
        summary: 'Create, change and delete templates, and keep them in files.',
        keywords: 'gallery pickup plantilla recoger',
      },
      {
        slug: 'idempotency',
        file: 'guides/idempotency.md',
        summary: 'Retry a request without sending the message twice.',
      },
      {
        slug: 'webhooks',
        file: 'guides/webhooks.md',
        summary: 'Receive and verify status events.',
        keywords: 'ip addresses firewall egress allow-list callbacks duplicates order',
      },
      {
        slug: 'one-time-codes',
        file: 'guides/one-time-codes.md',
        summary: 'Prove that a user has a phone number, with your codes or with ours.',
      },
      {
        slug: 'opt-outs',
        file: 'guides/opt-outs.md',
        summary: 'Receive replies, and stop marketing messages to recipients who opt out.',
        keywords:
          'unsubscribe block opt out reply click tap button darse de baja bloquear responder respuesta clic botón',
      },
      {
        slug: 'whatsapp-changes',
        file: 'guides/whatsapp-changes.md',
        summary: 'What changes at WhatsApp in 2026 and 2027, and what Waybill does about it.',
      },
      { slug: 'typescript', file: 'guides/typescript.md', summary: 'Send from TypeScript, with typed templates.' },
      { slug: 'mcp', file: 'guides/mcp.md', summary: 'Let AI assistants send and read through MCP tools.' },
      {
        slug: 'pagination',
        file: 'guides/pagination.md',
        summary: 'Read lists page by page.',
        keywords: 'paging pages cursor',
      },
      { slug: 'rate-limits', file: 'guides/rate-limits.md', summary: 'How many requests an account can make.' },
      {
        slug: 'sandbox',
        file: 'guides/sandbox.md',
        summary: 'Test every success and failure without sending anything.',
      },
    ],
  },
  {
    title: 'Reference',
    pages: [
      { slug: referenceSlug, summary: 'Every operation with its fields, errors and examples. Try calls in the page.' },
      { slug: 'overview', file: 'guides/api.md', summary: 'Procedures, response format and other paths.' },
      { slug: 'errors', file: 'guides/errors.md', summary: 'Every error code, what it means and what to do.' },
      { slug: 'versioning', file: 'guides/versioning.md', summary: 'What can change and what cannot.' },
      { slug: 'changelog', file: '../CHANGELOG.md', summary: 'What changed in each version.' },
    ],
  },
  {
    title: 'Migrate',
    pages: [
      { slug: 'migrate-from-twilio', file: 'guides/migrate-from-twilio.md', summary: 'Replace calls to Twilio.' },
      {
        slug: 'migrate-from-cloud-api',
        file: 'guides/migrate-from-cloud-api.md',
        summary: "Replace direct calls to Meta's Cloud API.",
      },
    ],
  },
  {
    title: 'Operators',
    collapsed: true,
    pages: [
      { slug: 'deploying', file: 'operating/deploying.md', summary: 'From an empty machine to the first message.' },
      {
        slug: 'kubernetes',
        file: 'operating/kubernetes.md',
        summary: 'Helm chart, Kustomize base and cloud databases.',
      },
      {
        slug: 'configuration',
        file: 'operating/configuration.md',
        summary: 'Every environment variable.',
        keywords: 'retention storage period kept',
      },
      { slug: 'commands', file: 'operating/commands.md', summary: 'The command line.' },
      {
        slug: 'operating',
        file: 'operating/operating.md',
        summary: 'Health, metrics, logs, backups and keys.',
        keywords: 'outage down unavailable restore',
      },
      {
        slug: 'sizing',
        file: 'operating/sizing.md',
        summary: 'Disk, CPU time and processes for millions of messages.',
      },
      {
        slug: 'costs',
        file: 'operating/costs.md',
        summary: "Import WhatsApp's rate cards, and see what messages cost.",
        keywords: 'prices invoice billing message precios cuesta factura mensaje',
      },
      {
        slug: 'opentelemetry',
        file: 'operating/opentelemetry.md',
        summary: 'Export traces and metrics to a collector.',
      },
      {
        slug: 'data',
        file: 'operating/data.md',
        summary: 'Move to PostgreSQL, export or remove an account, erase a person.',
        keywords: 'delete customer data forgotten gdpr uninstall leave migrate away borrar datos desinstalar',
      },
      {
        slug: 'upgrading',
        file: 'operating/upgrading.md',
        summary: 'Upgrade steps, migrations, shutdown and retention.',
      },
      { slug: 'security', file: 'SECURITY.md', summary: 'Report a vulnerability; the threat model.' },
    ],
  },
]
