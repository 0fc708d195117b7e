import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { TemplateDefinition } from '../../../contracts/templates/definition.ts'
import { toComponents, toParameterFormat } from '../template-components.ts'
import type { TemplateManagement } from '../template-management.ts'
import type { ReadOutcome } from '../read-outcome.ts'
import type { WhatsApp } from '../whatsapp.ts'
import type { Exchange } from './exchange.ts'
import type { GraphCall } from './onboarding.ts'
import { Success } from './onboarding-wire.ts'
import { listTemplates, parseResponse, templateFields, toListedTemplate } from './read.ts'
import { lenient, WireId } from '../wire-values.ts'
import { Page, Template } from './wire.ts'

/** Sends the bytes of a file to an upload session. */
export type UploadCall = (path: string, accessToken: string, body: Readable, sizeBytes: number) => Promise<Exchange>

const Created = z.object({ id: WireId, status: z.string().catch('PENDING'), category: lenient(z.string()) })
const UploadSession = z.object({ id: z.string().startsWith('upload:') })
const Uploaded = z.object({ h: z.string().min(1) })

export function createTemplateManagement(
  call: GraphCall,
  upload: UploadCall,
): TemplateManagement & Pick<WhatsApp, 'listTemplates'> {
  return {
    listTemplates: ({ wabaId, accessToken }) =>
      listTemplates(async (query) => {
        const response = await call('GET', `${encodeURIComponent(wabaId)}/message_templates?${query}`, accessToken)
        return parseResponse(response, Page, accessToken)
      }),
    createTemplate: async ({ wabaId, accessToken }, template, { withOptimizations }) => {
      const { name, language, category } = template
      const body = {
        name,
        language,
        category,
        parameter_format: toParameterFormat(template),
        ...toContent(template),
        ...(!withOptimizations && { degrees_of_freedom_spec: noOptimizations }),
      }
      const response = await call('POST', `${encodeURIComponent(wabaId)}/message_templates`, accessToken, body)
      const created = parseResponse(response, Created, accessToken)
      if (!created.ok) return created
      const { id, status, category: given } = created.value
      return { ok: true, value: { templateId: id, status, ...(given !== undefined && { category: given }) } }
    },
    editTemplate: async ({ templateId, accessToken }, definition, { withCategory }) => {
      const body = { ...(withCategory && { category: definition.category }), ...toContent(definition) }
      return withoutValue(
        parseResponse(await call('POST', encodeURIComponent(templateId), accessToken, body), Success, accessToken),
      )
    },
    deleteTemplate: async ({ wabaId, accessToken, name, templateId }) => {
      const query = new URLSearchParams({ name, ...(templateId !== undefined && { hsm_id: templateId }) })
      const path = `${encodeURIComponent(wabaId)}/message_templates?${query.toString()}`
      return withoutValue(parseResponse(await call('DELETE', path, accessToken), Success, accessToken))
    },
    getTemplate: async ({ templateId, accessToken }) => {
      const path = `${encodeURIComponent(templateId)}?fields=${templateFields}`
      const read = parseResponse(await call('GET', path, accessToken), Template, accessToken)
      return read.ok ? { ok: true, value: toListedTemplate(read.value) } : read
    },
    uploadSample: async ({ appId, accessToken, file }) => {
      const query = new URLSearchParams({
        file_name: file.name,
        file_length: String(file.sizeBytes),
        file_type: file.mimeType,
      })
      const response = await call('POST', `${encodeURIComponent(appId)}/uploads?${query.toString()}`, accessToken)
      const session = parseResponse(response, UploadSession, accessToken)
      if (!session.ok) return session
      const uploaded = parseResponse(
        await upload(session.value.id, accessToken, file.open(), file.sizeBytes),
        Uploaded,
        accessToken,
      )
      return uploaded.ok ? { ok: true, value: uploaded.value.h } : uploaded
    },
  }
}

/** What Meta may alter in messages of the Marketing Messages API (its page "Send marketing messages", template level). */
const optimizations = [
  'add_text_overlay',
  'auto_promotion_tag',
  'image_animation',
  'image_background_gen',
  'image_brightness_and_contrast',
  'image_touchups',
  'product_extensions',
  'text_extraction_for_headline',
  'text_extraction_for_tap_target',
  'text_formatting_optimization',
]
const noOptimizations = {
  creative_features_spec: Object.fromEntries(optimizations.map((name) => [name, { enroll_status: 'OPT_OUT' }])),
}

function toContent(template: TemplateDefinition) {
  const { ttlSeconds } = template
  return {
    components: toComponents(template),
    ...(ttlSeconds !== undefined && { message_send_ttl_seconds: ttlSeconds }),
  }
}

function withoutValue(outcome: ReadOutcome<unknown>): ReadOutcome<void> {
  return outcome.ok ? { ok: true, value: undefined } : outcome
}
