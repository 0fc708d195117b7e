import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { IconInfoCircle } from '@tabler/icons-react'
import { useNavigate, useSearchParams } from 'react-router'
import type { TemplateDefinition } from '../../../../../contracts/templates/definition.ts'
import { galleryLanguages } from '../../../../../contracts/templates/gallery-texts.ts'
import { galleryItems, makeGalleryTemplate } from '../../../../../contracts/templates/gallery.ts'
import { api } from '../../../api/client.ts'
import { useAccount } from '../../../session/session.ts'
import { BackLink, PageHeader } from '../../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../../ui/placeholders.tsx'
import { blankTemplate } from './draft.ts'
import { TemplateEditor } from './template-editor.tsx'

/**
 * `?gallery=order_shipped&language=es` starts from a gallery template, and `?name=…&language=…` edits a template. With it,
 * `copy=name` copies the template, and `copy=language` adds a language to it. No query starts with an empty one.
 */
export function EditorPage() {
  const { accountId } = useAccount()
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const whatsAppAccountId = search.get('account') ?? undefined
  const name = search.get('name') ?? undefined
  const language = search.get('language') ?? 'en'
  const copy = search.get('copy')
  const isNew = name === undefined || copy !== null
  const existing = useQuery({
    queryKey: ['template-definition', accountId, whatsAppAccountId, name, language],
    enabled: name !== undefined,
    // Not refreshed, because a newer version must not replace the user's input.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: () =>
      api.template.definition.query({
        accountId,
        name: name ?? '',
        language,
        ...(whatsAppAccountId !== undefined && { whatsAppAccountId }),
      }),
  })
  const start = name === undefined ? startFromGallery(search.get('gallery'), language) : existing.data?.definition
  const toList = (opened?: { name: string; language: string }) => ({
    pathname: `/${accountId}/templates`,
    search: new URLSearchParams({
      ...(whatsAppAccountId !== undefined && { account: whatsAppAccountId }),
      ...opened,
    }).toString(),
  })
  return (
    <>
      <BackLink to={toList()}>{t`Templates`}</BackLink>
      <PageHeader
        title={isNew ? t`New template` : t`Edit template`}
        description={
          isNew
            ? t`WhatsApp reviews a template before it can be sent. This takes from a few minutes to a day.`
            : t`WhatsApp reviews each change. An approved template can be changed once in 24 hours.`
        }
      />
      {name !== undefined && existing.isPending && <LoadingSkeleton lines={8} />}
      {existing.isError && <ErrorAlert error={existing.error} onRetry={() => existing.refetch()} />}
      {existing.data?.reason !== undefined && (
        <Alert color="gray" icon={<IconInfoCircle />} title={t`This template cannot be edited here`}>
          <Trans>Edit it in WhatsApp Manager instead: {existing.data.reason}.</Trans>
        </Alert>
      )}
      {start && (
        <TemplateEditor
          key={`${name ?? ''} ${search.get('gallery') ?? ''} ${language}`}
          start={copy === null ? start : copyOf(start, copy)}
          isNew={isNew}
          whatsAppAccountId={whatsAppAccountId}
          onDone={({ name, language }) => void navigate(toList({ name, language }))}
          onCancel={() => void navigate(toList())}
        />
      )}
    </>
  )
}

/** Under another name, or in a language that is still to be chosen. */
function copyOf(template: TemplateDefinition, copy: string): TemplateDefinition {
  return copy === 'language' ? { ...template, language: '' } : { ...template, name: `${template.name}_copy` }
}

function startFromGallery(name: string | null, language: string): TemplateDefinition {
  const item = galleryItems.find((one) => one.name === name)
  const known = galleryLanguages.find((one) => one === language)
  return item && known ? makeGalleryTemplate(item.name, known) : blankTemplate
}
