{{/* The release name, unless it already says "waybill". */}}
{{- define "waybill.name" -}}
{{- if contains "waybill" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-waybill" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What selects pods never changes between versions. Call it with (list $ "api"). */}}
{{- define "waybill.selector" -}}
app.kubernetes.io/name: waybill
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "waybill.labels" -}}
{{ include "waybill.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
{{- end -}}

{{- define "waybill.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* The container of every pod. Call it with (dict "root" $ "args" (list …) "resources" …). */}}
{{- define "waybill.container" -}}
image: {{ include "waybill.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ toJson .args }}
envFrom:
  - secretRef:
      name: {{ .root.Values.existingSecret }}
env:
{{- range $name, $value := .root.Values.config }}
  - name: {{ $name }}
    value: {{ $value | quote }}
{{- end }}
  - name: HOST
    value: 0.0.0.0
  - name: PORT
    value: '3000'
  - name: WAYBILL_DATA_DIR
    value: /data
resources: {{- toYaml .resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- end -}}

{{/* What the pods of all roles have in common. */}}
{{- define "waybill.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  # The user "node" of the image.
  runAsUser: 1000
  runAsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
volumes:
  # The journals and uploads in progress: they outlive a container that crashes, and no pod needs those of another.
  - name: data
    emptyDir: {}
  - name: tmp
    emptyDir: {}
{{- with .Values.extraVolumes }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
