import { t } from '@lingui/core/macro'
import { Box, CloseButton, FileButton, Group, Input, Paper, Progress, Stack, Text, TextInput } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { createContext, useContext, useEffect } from 'react'
import { capitalize, sayFact } from '../../../language/facts.ts'
import { samplesPath, type uploadTemplateSample } from '../../../../../contracts/dashboard/template-changes.ts'
import { sampleTypes } from '../../../../../contracts/facts/template-problems.ts'
import type { OutputOf } from '../../../../../contracts/procedure.ts'
import type { TemplateHeaderDefinition } from '../../../../../contracts/templates/definition.ts'
import {
  isSampleType,
  maxSampleBytes,
  type SampleFormat,
  sampleRules,
} from '../../../../../contracts/templates/samples.ts'
import { uploadFile, useUpload } from '../../../api/use-upload.ts'
import { useAccount } from '../../../session/session.ts'
import { formatSize, type PreviewFile } from '../message-preview.tsx'
import { Button } from '../../../ui/button.tsx'

/** Files uploaded in this editor by handle, for the preview. */
export const SampleFiles = createContext<{
  whatsAppAccountId: string | undefined
  files: ReadonlyMap<string, PreviewFile>
  addFile: (handle: string, file: PreviewFile) => void
}>({ whatsAppAccountId: undefined, files: new Map(), addFile: () => {} })

interface SampleFieldProps {
  header: TemplateHeaderDefinition
  format: SampleFormat
  onChange: (header: TemplateHeaderDefinition) => void
  error: string | undefined
}

/** The sample of a media header: a file from this device, or a link. */
export function SampleField({ header, format, onChange, error }: SampleFieldProps) {
  const { canChange } = useAccount()
  const { files } = useContext(SampleFiles)
  const { input, cancel, sending, problem } = useSampleUpload({ header, format, onChange })
  const { sample } = header
  const isUploaded = sample?.handle !== undefined
  const uploaded = isUploaded ? files.get(sample.handle ?? '') : undefined
  const shown = sending || problem !== undefined ? undefined : error
  return (
    <Input.Wrapper
      label={t`Sample file`}
      labelElement="div"
      description={t`For the review only: each message has its own file. ${describeRule(format)}`}
      inputWrapperOrder={['label', 'description', 'input', 'error']}
      error={shown === undefined ? undefined : <span role="alert">{shown}</span>}
    >
      <Stack gap="xs" mt={4} mb={shown === undefined ? 0 : 5}>
        {(sending || isUploaded) && (
          <Paper withBorder px="sm" py="xs" role="status">
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Box miw={0} flex={1}>
                <Text size="sm" fw={500} truncate>
                  {sending?.file.name ?? uploaded?.name ?? t`Uploaded sample`}
                </Text>
                <Text size="xs" c="dimmed">
                  {sending
                    ? describeProgress(sending)
                    : uploaded
                      ? t`${formatSize(uploaded.size)}, uploaded`
                      : t`Uploaded`}
                </Text>
              </Box>
              {sending ? (
                <CloseButton aria-label={t`Cancel upload`} onClick={cancel} />
              ) : (
                <CloseButton
                  aria-label={t`Remove sample`}
                  onClick={() => onChange({ ...header, sample: { link: '' } })}
                />
              )}
            </Group>
            {sending && (
              <Progress mt={6} size="sm" value={sending.part * 100} aria-label={t`Upload of ${sending.file.name}`} />
            )}
          </Paper>
        )}
        <FileButton accept={sampleRules[format].mimeTypes.join(',')} disabled={!canChange} {...input}>
          {(props) => (
            <Button {...props} variant="default" w="fit-content" icon={IconUpload} disabled={!canChange}>
              {sending || isUploaded ? t`Choose another file` : t`Choose file`}
            </Button>
          )}
        </FileButton>
        {problem !== undefined && <Input.Error role="alert">{problem}</Input.Error>}
        {!sending && !isUploaded && (
          <TextInput
            label={t`Or a link to a sample file`}
            placeholder={`https://example.com/sample.${examples[format]}`}
            type="url"
            value={sample?.link ?? ''}
            onChange={({ currentTarget }) => onChange({ ...header, sample: { link: currentTarget.value } })}
          />
        )}
      </Stack>
    </Input.Wrapper>
  )
}

function useSampleUpload({ header, format, onChange }: Omit<SampleFieldProps, 'error'>) {
  const { accountId } = useAccount()
  const { whatsAppAccountId, addFile } = useContext(SampleFiles)
  const upload = useUpload({
    send: async (file, transfer) => {
      const [{ handle }, picture] = await Promise.all([
        uploadFile<OutputOf<typeof uploadTemplateSample>>({
          path: samplesPath,
          query: { accountId, format, ...(whatsAppAccountId !== undefined && { whatsAppAccountId }) },
          file,
          ...transfer,
        }),
        format === 'IMAGE' ? readAsDataUrl(file) : undefined,
      ])
      return { handle, picture }
    },
    findProblem: (file) => findProblem(file, format),
    onDone: ({ handle, picture }, { name, size }) => {
      addFile(handle, { name, size, ...(picture !== undefined && { picture }) })
      onChange({ ...header, sample: { handle } })
    },
  })
  // Cancel the upload if the header changes, for example because an earlier card is removed and cards move up.
  const { cancel } = upload
  useEffect(() => cancel, [header])
  return upload
}

const examples: Record<SampleFormat, string> = { IMAGE: 'jpg', VIDEO: 'mp4', DOCUMENT: 'pdf' }

function describeRule(format: SampleFormat): string {
  return t`${capitalize(describeFiles(format))} of at most ${formatSize(maxSampleBytes(format))}.`
}

/** The file types of a header format, such as `a JPEG or PNG image`. */
function describeFiles(format: SampleFormat): string {
  return sayFact(sampleTypes[format]())
}

function describeProgress({ file, part }: { file: File; part: number }): string {
  return part < 1
    ? t`Uploading ${formatSize(file.size)}: ${Math.floor(part * 100)}%`
    : t`Uploaded. Sending it to WhatsApp…`
}

function findProblem({ type, size }: File, format: SampleFormat): string | undefined {
  if (!isSampleType(format, type)) return t`Choose ${describeFiles(format)}.`
  if (size === 0) return t`This file is empty. Choose another one.`
  const max = maxSampleBytes(format)
  return size > max ? t`This file has ${formatSize(size)}. Choose one of at most ${formatSize(max)}.` : undefined
}

function readAsDataUrl(file: File): Promise<string | undefined> {
  const reader = new FileReader()
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  reader.addEventListener('loadend', () => resolve(typeof reader.result === 'string' ? reader.result : undefined))
  reader.readAsDataURL(file)
  return promise
}
