#!/bin/sh
# Makes pipec.vsix here, without network: `code --install-extension pipec.vsix` installs it.  It needs zip.
set -e
cd "$(dirname "$0")"
version=$(sed -n 's/^  "version": "\(.*\)",/\1/p' package.json)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir "$work/extension"
cp -r package.json language-configuration.json extension.js client.js syntaxes README.md ../../LICENSE "$work/extension"
cat > "$work/extension.vsixmanifest" <<XML
<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="pipec" Version="$version" Publisher="pipec"/>
    <DisplayName>pipec</DisplayName>
    <Description xml:space="preserve">Image-analysis pipelines</Description>
    <Categories>Programming Languages</Categories>
    <Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value="^1.75.0"/></Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
  </Assets>
</PackageManifest>
XML
cat > "$work/[Content_Types].xml" <<XML
<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json"/>
  <Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".md" ContentType="text/markdown"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
XML
out=$PWD/pipec.vsix
rm -f "$out"
(cd "$work" && zip -q -r "$out" .)
echo "$out"
