import { Box, Code } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

interface CodeBlockProps {
  code: string
  /** Says to those who cannot see it what this is. */
  label: string
}

/** Code to be taken along. */
export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    <Box pos="relative">
      <Code block tabIndex={0} role="region" aria-label={label} p="md" pt={44} fz={13}>
        {code}
      </Code>
      <Box pos="absolute" top={8} right={8}>
        <CopyButton text={code} />
      </Box>
    </Box>
  )
}
