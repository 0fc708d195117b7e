import type { Readable } from 'node:stream'
import type { TemplateDefinition } from '../../contracts/templates/definition.ts'
import type { StoredComponent } from '../platform/db/schema.ts'
import type { ReadOutcome } from './read-outcome.ts'

/** A template as listed by the Graph API. */
export interface ListedTemplate {
  id: string
  name: string
  language: string
  status: string
  category?: string
  /** The category that WhatsApp will give it; absent if it stays. */
  announcedCategory?: string
  parameterFormat: string
  components: StoredComponent[]
  qualityScore?: string
  rejectedReason?: string
  /** Absent if the template has no lifetime of its own. Not stored. */
  ttlSeconds?: number
}

/** WhatsApp's response for a new template. The category may differ from the requested one. */
interface CreatedTemplate {
  templateId: string
  status: string
  category?: string
}

/** A file on disk. Its type was detected from its content. */
export interface SampleFile {
  name: string
  mimeType: string
  sizeBytes: number
  open(): Readable
}

/** The Graph API requests that create, change and delete templates (reference 2, sections 3.1 to 3.4). */
export interface TemplateManagement {
  /** Without optimizations, Meta does not alter the creative of the template's messages. */
  createTemplate(
    waba: { wabaId: string; accessToken: string },
    template: TemplateDefinition,
    options: { withOptimizations: boolean },
  ): Promise<ReadOutcome<CreatedTemplate>>
  /** Replaces all components. WhatsApp does not accept a new category for an approved template. */
  editTemplate(
    template: { templateId: string; accessToken: string },
    definition: TemplateDefinition,
    options: { withCategory: boolean },
  ): Promise<ReadOutcome<void>>
  /** Without an ID, all languages of the name are deleted. */
  deleteTemplate(template: {
    wabaId: string
    accessToken: string
    name: string
    templateId?: string | undefined
  }): Promise<ReadOutcome<void>>
  getTemplate(template: { templateId: string; accessToken: string }): Promise<ReadOutcome<ListedTemplate>>
  /** Uploads the sample of a header, and returns its handle. */
  uploadSample(upload: { appId: string; accessToken: string; file: SampleFile }): Promise<ReadOutcome<string>>
}
