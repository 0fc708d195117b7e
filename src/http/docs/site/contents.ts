import { existsSync } from 'node:fs'

interface Entry {
  slug: string
  /** Path in the guides folder; undefined for a generated page. */
  file?: string
  summary: string
}

interface Group {
  title: string
  /** Collapsed until a reader expands it or opens one of its pages. */
  collapsed?: true
  pages: readonly Entry[]
}

/** The interactive API reference, which is listed among the guides in the navigation. */
export const referenceSlug = 'api'

/** Builds omit the gallery page, because its images take megabytes. It exists only in the repository. */
export const gallerySlug = 'dashboard-gallery'
const hasGallery = existsSync(new URL('../guides/images/gallery/', import.meta.url))

/** The documentation pages, in navigation order. */
export const contents: readonly Group[] = [
  {
    title: 'Get started',
    pages: [
      { slug: '', file: 'index.md', summary: 'Send a WhatsApp template message with one HTTP call.' },
      { slug: 'quick-start', file: 'quick-start.md', summary: 'Run the sandbox on your machine.' },
      { slug: 'sending', file: 'sending.md', summary: 'Send a message, read its status and handle errors.' },
    ],
  },
  {
    title: 'Guides',
    pages: [
      {
        slug: 'templates',
        file: 'templates.md',
        summary: 'Find templates, fill placeholders and preview the text.',
      },
      { slug: 'media', file: 'media.md', summary: 'Upload images, videos and documents for headers.' },
      {
        slug: 'creating-templates',
        file: 'creating-templates.md',
        summary: 'Create, change and delete templates, and keep them in files.',
      },
      {
        slug: 'idempotency',
        file: 'idempotency.md',
        summary: 'Retry a request without sending the message twice.',
      },
      { slug: 'webhooks', file: 'webhooks.md', summary: 'Receive and verify status events.' },
      {
        slug: 'one-time-codes',
        file: 'one-time-codes.md',
        summary: 'Prove that a user has a phone number, with your codes or with ours.',
      },
      {
        slug: 'opt-outs',
        file: 'opt-outs.md',
        summary: 'Receive replies, and stop marketing messages to recipients who opt out.',
      },
      { slug: 'typescript', file: 'typescript.md', summary: 'Send from TypeScript, with typed templates.' },
      { slug: 'mcp', file: 'mcp.md', summary: 'Let AI assistants send and read through MCP tools.' },
      { slug: 'pagination', file: 'pagination.md', summary: 'Read lists page by page.' },
      { slug: 'rate-limits', file: 'rate-limits.md', summary: 'How many requests an account can make.' },
      { slug: 'sandbox', file: 'sandbox.md', summary: 'Test every success and failure without sending anything.' },
    ],
  },
  {
    title: 'Reference',
    pages: [
      { slug: referenceSlug, summary: 'Every operation with its fields, errors and examples. Try calls in the page.' },
      { slug: 'overview', file: 'api.md', summary: 'Procedures, response format and other paths.' },
      { slug: 'errors', file: 'errors.md', summary: 'Every error code, what it means and what to do.' },
      { slug: 'versioning', file: 'versioning.md', summary: 'What can change and what cannot.' },
      { slug: 'changelog', file: 'changelog.md', summary: 'What changed in each version.' },
    ],
  },
  {
    title: 'Migrate',
    pages: [
      { slug: 'migrate-from-twilio', file: 'migrate-from-twilio.md', summary: 'Replace calls to Twilio.' },
      {
        slug: 'migrate-from-cloud-api',
        file: 'migrate-from-cloud-api.md',
        summary: "Replace direct calls to Meta's Cloud API.",
      },
    ],
  },
  {
    title: 'Account owners',
    collapsed: true,
    pages: [
      { slug: 'dashboard', file: 'dashboard.md', summary: 'Manage keys, numbers, templates and webhooks.' },
      {
        slug: 'going-live',
        file: 'going-live.md',
        summary: "From Meta's console to the first message from your number.",
      },
      { slug: 'connecting-whatsapp', file: 'connecting-whatsapp.md', summary: 'Add a WhatsApp number.' },
    ],
  },
  {
    title: 'Operators',
    collapsed: true,
    pages: [
      { slug: 'deploying', file: 'deploying.md', summary: 'Install and run Waybill.' },
      {
        slug: 'kubernetes',
        file: 'kubernetes.md',
        summary: 'Helm chart, Kustomize base, systemd units and cloud databases.',
      },
      { slug: 'configuration', file: 'configuration.md', summary: 'Every environment variable.' },
      { slug: 'commands', file: 'commands.md', summary: 'The command line.' },
      { slug: 'operating', file: 'operating.md', summary: 'Health, metrics, logs, backups and keys.' },
      { slug: 'costs', file: 'costs.md', summary: "Import WhatsApp's rate cards, and see what messages cost." },
      { slug: 'opentelemetry', file: 'opentelemetry.md', summary: 'Export traces and metrics to a collector.' },
      { slug: 'data', file: 'data.md', summary: 'Move to PostgreSQL, export or remove an account, erase a person.' },
      { slug: 'upgrading', file: 'upgrading.md', summary: 'Upgrade steps, migrations, shutdown and retention.' },
      { slug: 'security', file: '../../../../docs/SECURITY.md', summary: 'Report a vulnerability; the threat model.' },
    ],
  },
  {
    title: 'Contributors',
    collapsed: true,
    pages: [
      { slug: 'testing', file: 'testing.md', summary: 'What each test suite covers.' },
      { slug: 'benchmarks', file: 'benchmarks.md', summary: 'Measured throughput and latency.' },
      { slug: 'send-cost', file: 'send-cost.md', summary: 'The CPU time of a send and the limits of a machine.' },
      { slug: 'dependencies', file: 'dependencies.md', summary: 'The packages of the server and their reasons.' },
      ...(hasGallery
        ? [{ slug: gallerySlug, file: 'dashboard-gallery.md', summary: 'Every page of the dashboard in pictures.' }]
        : []),
      { slug: 'decisions', summary: 'Design decisions by date.' },
    ],
  },
]
