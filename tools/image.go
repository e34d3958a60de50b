package tools

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	_ "image/gif" // decoders
	"image/jpeg"
	"image/png"
	"io"

	"github.com/mark3labs/mcp-go/mcp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // decoder

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// picture is an image for the model, encoded.
type picture struct {
	mime                  string
	data                  string // base64
	width, height         int
	fullWidth, fullHeight int
	scaled                bool
}

// imageOutput is a picture as structured content has it.
type imageOutput struct {
	MIME   string `json:"mime_type"`
	Data   string `json:"data" jsonschema:"base64"`
	Width  int    `json:"width" jsonschema:"pixels"`
	Height int    `json:"height" jsonschema:"pixels"`
}

func (p *picture) content() mcp.Content {
	return mcp.ImageContent{Type: mcp.ContentTypeImage, Data: p.data, MIMEType: p.mime}
}

func (p *picture) output() *imageOutput {
	return &imageOutput{MIME: p.mime, Data: p.data, Width: p.width, Height: p.height}
}

func isImage(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// Bounds on pictures that are decoded: bytes of the file, and pixels, each of
// which takes 4 to 8 bytes of memory for a moment.
const (
	maxImageFile   = 32 << 20
	maxImagePixels = 40 << 20
)

// fitImage reads a picture and makes it fit into budget bytes of base64,
// scaling it down when it does not as it is.
func fitImage(r io.Reader, size int64, mime string, budget int) (*picture, error) {
	tooLarge := func(format string, args ...any) error {
		return backends.Errorf(backends.CodeTooLarge, "read", "", format, args...)
	}
	if size > maxImageFile {
		return nil, tooLarge("is an image of %d bytes; the limit is %d MB. Scale it down with a command", size, maxImageFile>>20)
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxImageFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxImageFile {
		return nil, tooLarge("is an image over the limit of %d MB. Scale it down with a command", maxImageFile>>20)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return nil, backends.Errorf(backends.CodeBinary, "read", "", "starts like %s but cannot be decoded: %v", mime, err)
	}
	p := &picture{mime: mime, width: config.Width, height: config.Height, fullWidth: config.Width, fullHeight: config.Height}
	if base64.StdEncoding.EncodedLen(len(raw)) <= budget {
		p.data = base64.StdEncoding.EncodeToString(raw)
		return p, nil
	}
	if config.Width*config.Height > maxImagePixels {
		return nil, tooLarge("is an image of %d×%d pixels, more than can be scaled down here; do it with a command", config.Width, config.Height)
	}
	full, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, backends.Errorf(backends.CodeBinary, "read", "", "starts like %s but cannot be decoded: %v", mime, err)
	}
	p.scaled = true
	return p, p.shrink(full, budget)
}

// longestSide is where scaling down starts, in pixels: models see no more of a
// picture than that.
const longestSide = 1568

// shrink encodes full in sizes that get smaller until one fits.
func (p *picture) shrink(full image.Image, budget int) error {
	opaque := isOpaque(full)
	for side := longestSide; side >= 16; side = side * 3 / 4 {
		small := scaleTo(full, side)
		var buf bytes.Buffer
		var err error
		if opaque {
			p.mime, err = "image/jpeg", jpeg.Encode(&buf, small, &jpeg.Options{Quality: 85})
		} else {
			p.mime, err = "image/png", png.Encode(&buf, small)
		}
		if err != nil {
			return err
		}
		if base64.StdEncoding.EncodedLen(buf.Len()) <= budget {
			p.data = base64.StdEncoding.EncodeToString(buf.Bytes())
			p.width, p.height = small.Bounds().Dx(), small.Bounds().Dy()
			return nil
		}
	}
	return backends.Errorf(backends.CodeTooLarge, "read", "", "is an image that does not fit into a result at any size")
}

func isOpaque(img image.Image) bool {
	if o, ok := img.(interface{ Opaque() bool }); ok {
		return o.Opaque()
	}
	return img.ColorModel() == color.YCbCrModel || img.ColorModel() == color.GrayModel
}

// scaleTo makes img's longer side at most side pixels.
func scaleTo(img image.Image, side int) image.Image {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	longer := max(w, h)
	if longer <= side {
		return img
	}
	small := image.NewNRGBA(image.Rect(0, 0, max(w*side/longer, 1), max(h*side/longer, 1)))
	draw.CatmullRom.Scale(small, small.Bounds(), img, img.Bounds(), draw.Src, nil)
	return small
}
